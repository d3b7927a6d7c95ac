"""A model of noise is held to the letter: requests of every kind, for every family, over a hundred schemas.

`make test-scale` is the same with a thousand requests and more.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.scale import engine, on_vllm, tools
from tests.e2e.scale.any_tool import drawn
from tests.e2e.scale.asks import KINDS, Ask, asks
from tests.e2e.scale.report import Report
from tests.e2e.scale.sending import Target, send_all
from tests.e2e.scale.vocabulary import FAMILIES

ROUNDS = 1
"""Requests of each kind to each family."""
REQUESTS = ROUNDS * len(KINDS) * len(FAMILIES)
MOST_UNFINISHED = 0.1
"""Share that may be cut by the token limit: noise ends a text by chance."""
ANY_SCHEMA = 32


@pytest.fixture(scope="module")
def serving(logs: Path) -> Iterator[tuple[str, Path]]:
    with on_vllm.engine(logs) as found:
        yield found


@pytest.fixture(scope="module")
def target(serving: tuple[str, Path], logs: Path) -> Iterator[Target]:
    with on_vllm.target(serving[0], FAMILIES, logs) as found:
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


def test_the_engine_is_none_the_worse(serving: tuple[str, Path], target: Target) -> None:
    assert not engine.faults(*serving)
