"""A model of noise is held to the letter: requests of every kind, for every family, over a hundred schemas.

`make test-scale` is the same with a thousand requests and more.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.scale import engine, laws, on_vllm
from tests.e2e.scale.sending import Target
from tests.e2e.scale.vocabulary import FAMILIES

ROUNDS = 1
"""Requests of each kind to each family."""
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


def test_every_demand_is_kept(target: Target) -> None:
    laws.every_demand_is_kept(target, FAMILIES, rounds=ROUNDS, most_unfinished=MOST_UNFINISHED)


def test_any_schema_is_held_or_refused_with_a_reason(target: Target) -> None:
    laws.any_schema_is_held_or_refused_with_a_reason(target, FAMILIES, schemas=ANY_SCHEMA)


def test_the_engine_is_none_the_worse(serving: tuple[str, Path], target: Target) -> None:
    assert not engine.faults(*serving)
