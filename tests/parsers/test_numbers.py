"""Numbers that a schema's expression matches satisfy the schema, as every reader of doubles understands them."""

import json
import math
import random
import re
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.grammars.numbers import NoNumber, number_pattern
from parsers.grammars.regexes import exact
from tests.support.samples import sample

EDGES = [
    0,
    1,
    -1,
    5,
    16,
    100,
    -90,
    180,
    0.5,
    0.25,
    -0.5,
    1.5,
    0.001,
    99.99,
    1e-7,
    1e15,
    9.99,
    2**31,
    -(2**31),
    3.14159,
    1e20,
    -1e20,
]
STEPS = [1, 2, 5, 10, 0.5, 0.01, 0.1, 0.25, 3, 7, 15, 100, 1000, 0.05, 60, 2.5]
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
ranges = st.fixed_dictionaries(
    {}, optional={bound: st.sampled_from(EDGES) for bound in BOUNDS} | {"multipleOf": st.sampled_from(STEPS)}
)


@settings(max_examples=300, deadline=None)
@given(said=ranges, integer=st.booleans(), seed=st.integers(0, 10_000))
def test_what_is_matched_satisfies_the_schema(said: dict[str, Any], integer: bool, seed: int) -> None:
    try:
        pattern, held = number_pattern(said, integer=integer)
    except NoNumber:
        values = [edge for edge in EDGES if not integer or edge == int(edge)]
        validator = jsonschema_rs.validator_for({**said, "type": "integer" if integer else "number"})
        assert not any(validator.is_valid(value) for value in values if abs(value) < 1e18)
        return
    rules = said if held else {key: value for key, value in said.items() if key != "multipleOf"}
    validator = jsonschema_rs.validator_for({**rules, "type": "integer" if integer else "number"})
    chance, node = random.Random(seed), exact(pattern)
    for _ in range(10):
        text = sample(node, chance)
        value = json.loads(text)
        assert math.isfinite(value), text
        assert len(text) < 60, text
        assert validator.is_valid(value), text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({}, "1e-05"),
        ({}, "6.02e+23"),
        ({}, "-0.1"),
        ({"minimum": 0}, "1e22"),
        ({"minimum": 0, "maximum": 1}, "1e-05"),
        ({"minimum": -90, "maximum": 90}, "-59.9138688"),
        ({"exclusiveMinimum": 0}, "0.34168570197405224"),
        ({"multipleOf": 0.01}, "19.99"),
    ],
)
def test_numbers_may_be_written_as_models_write_them(said: dict[str, Any], text: str) -> None:
    pattern, _ = number_pattern(said, integer=False)
    assert re.fullmatch(pattern, text)
