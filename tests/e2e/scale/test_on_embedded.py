"""Models of noise on the embedded engine are held to the letter. `python -m tests.e2e.scale embedded` asks thousands of times."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.e2e.scale import on_embedded, tools
from tests.e2e.scale.any_tool import drawn
from tests.e2e.scale.asks import KINDS, Ask, asks
from tests.e2e.scale.report import Report
from tests.e2e.scale.sending import Target, send_all

FAMILIES = ("hermes", "harmony", "mistral", "glm45", "llama4_pythonic", "deepseek_v32")
"""One of each kind: JSON in tags, messages, control tokens, tags around each argument, Python, tags with typed arguments."""
REQUESTS = len(KINDS) * len(FAMILIES)
MOST_UNFINISHED = 0.2
"""Share that may be cut by the token limit, or end without a call where none is demanded."""
ANY_SCHEMA = 12


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    pytest.importorskip("xllamacpp")
    with on_embedded.target(FAMILIES, tmp_path_factory.mktemp("engine")) as found:
        yield found


def answered(target: Target, chosen: list[Ask]) -> Report:
    async def run() -> Report:
        report = Report(len(chosen))
        async for ask, answer, outcome in send_all(target, chosen):
            report.add(ask, answer, outcome)
        return report

    return asyncio.run(run())


def test_every_demand_is_kept(target: Target) -> None:
    report = answered(target, list(asks(REQUESTS, FAMILIES, tools.chosen(len(tools.written())))))
    assert not report.broken, "\n".join(report.broken)
    assert report.count("valid") + report.count("failed") >= (1 - MOST_UNFINISHED) * REQUESTS, report.table()


def test_any_schema_is_held_or_refused_with_a_reason(target: Target) -> None:
    report = answered(target, list(asks(ANY_SCHEMA, FAMILIES, drawn(ANY_SCHEMA, seed=1), most_offered=1)))
    assert not report.broken, "\n".join(report.broken)
    assert report.count("valid"), report.table()
