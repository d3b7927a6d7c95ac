"""A minute of fuzzing, over all families: the same turns on every machine; `make fuzz` looks longer, and at other turns."""

from itertools import islice

import pytest

import parsers
from tests.support.fuzz import held

TURNS = 1000


@pytest.mark.parametrize("name", parsers.names())
def test_a_turn_that_no_model_wrote_breaks_no_law(name: str) -> None:
    assert len(list(islice(held(name, seed=1), TURNS))) == TURNS
