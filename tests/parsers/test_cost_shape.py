"""The cost of a call grows with its length, not with its square: a delta never reads again what came before it."""

import pytest

import parsers
from benchmarks.parser import pieces, seconds, turn

SMALL, LARGE = 16_000, 64_000
# Four times the text may cost four times the time, and a tenth for noise.
BOUND = 4.4
RUNS = 5
ATTEMPTS = 3


def best(fmt: parsers.Format, size: int) -> float:
    deltas = pieces(turn(fmt, size))
    return min(seconds(fmt, deltas) for _ in range(RUNS))


@pytest.mark.parametrize("name", parsers.names())
def test_four_times_the_arguments_cost_four_times_the_time(name: str) -> None:
    fmt = parsers.get(name)
    # A busy machine only ever adds time, so the best of each size over all attempts is the truest.
    small = large = float("inf")
    for _ in range(ATTEMPTS):
        small, large = min(small, best(fmt, SMALL)), min(large, best(fmt, LARGE))
        if large <= BOUND * small:
            return
    pytest.fail(f"{name}: 64 kB cost {large / small:.1f} times what 16 kB cost")
