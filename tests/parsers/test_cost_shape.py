"""The cost of a call grows with its length, not with its square: a delta never reads again what came before it."""

import gc
from collections.abc import Iterator

import pytest

import parsers
from benchmarks.parser import pieces, seconds, turn

SMALL, TIMES = 16_000, 16
# Sixteen times the text may cost sixteen times the time. Half as much again is for a machine whose speed changes between two
# measurements; reading again what was read costs up to 256 times as much.
BOUND = 1.5 * TIMES
ATTEMPTS = 20


@pytest.fixture(autouse=True, scope="module")
def _own_garbage_only() -> Iterator[None]:
    # What earlier tests have left in memory would be gone through again and again while a long call is read.
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("name", parsers.names())
def test_sixteen_times_the_arguments_cost_sixteen_times_the_time(name: str) -> None:
    fmt = parsers.get(name)
    short, long = pieces(turn(fmt, SMALL)), pieces(turn(fmt, SMALL * TIMES))
    # A busy machine only ever adds time, so the best of each size over all attempts is the truest.
    small = large = float("inf")
    for _ in range(ATTEMPTS):
        small = min(small, *(seconds(fmt, short) for _ in range(4)))
        large = min(large, seconds(fmt, long))
        if large <= BOUND * small:
            return
    pytest.fail(f"{name}: {TIMES} times the text cost {large / small:.1f} times as much")
