"""What must hold of a gateway, whichever engine of noise is behind it."""

import asyncio
from collections.abc import Sequence

from tests.e2e.scale import tools
from tests.e2e.scale.any_tool import drawn
from tests.e2e.scale.asks import KINDS, Ask, asks
from tests.e2e.scale.report import Report
from tests.e2e.scale.sending import Target, send_all


def every_demand_is_kept(target: Target, families: Sequence[str], *, rounds: int, most_unfinished: float) -> None:
    """Requests of each kind to each family. `most_unfinished`: share that may end without what was demanded, and say so."""
    number = rounds * len(KINDS) * len(families)
    report = _answered(target, list(asks(number, families, tools.chosen(len(tools.written())))))
    assert not report.broken, "\n".join(report.broken)
    assert report.count("valid") + report.count("failed") >= (1 - most_unfinished) * number, report.table()


def any_schema_is_held_or_refused_with_a_reason(target: Target, families: Sequence[str], *, schemas: int) -> None:
    """One request for each of so many drawn schemas."""
    report = _answered(target, list(asks(schemas, families, drawn(schemas, seed=1), most_offered=1)))
    assert not report.broken, "\n".join(report.broken)
    assert report.count("valid"), report.table()


def _answered(target: Target, chosen: list[Ask]) -> Report:
    async def run() -> Report:
        report = Report(len(chosen))
        async for ask, answer, outcome in send_all(target, chosen):
            report.add(ask, answer, outcome)
        return report

    return asyncio.run(run())
