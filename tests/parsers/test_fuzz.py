"""A minute of fuzzing at most, over all families; `make fuzz` looks longer, and at other turns."""

import pytest

import parsers
from tests.support.fuzz import fuzz

SECONDS = 0.6


@pytest.mark.parametrize("name", parsers.names())
def test_a_turn_that_no_model_wrote_breaks_no_law(name: str) -> None:
    assert fuzz(name, seconds=SECONDS, seed=1).total() > 0
