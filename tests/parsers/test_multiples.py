"""Multiples of steps that no last digits tell: a decoder lets through what a validator does, within bounds of any kind."""

import json
from decimal import Decimal
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from parsers.errors import ConstraintError
from parsers.grammars import json_tag, unenforced
from parsers.grammars.residues import spans
from tests.support.decoders import refusal

STEPS = [3, 7, 12, 15, 60, 97, 1024, 2.5, 12.5]
BOUNDS = [-1000, -7, 0, 1, 3, 6.5, 100, 9_999, 86_400, 10**8]
bounds = st.sampled_from(BOUNDS)
said = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number"]), "multipleOf": st.sampled_from(STEPS)},
    optional=dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), bounds),
)


def agrees(schema: dict[str, Any], text: str) -> bool:
    return (refusal(json_tag(schema), text) is None) == jsonschema_rs.validator_for(schema).is_valid(json.loads(text))


@settings(max_examples=100, deadline=None)
@given(schema=said, count=st.integers(-2_000_000, 2_000_000), off=st.sampled_from([0, 0, 0, 1, -1, 3]))
def test_a_decoder_agrees_with_a_validator(schema: dict[str, Any], count: int, off: int) -> None:
    try:
        assume(not unenforced(schema))
    except ConstraintError:
        assume(False)
    for some in (count, count % 1000, count % 10 - 5):
        value = some * Decimal(repr(schema["multipleOf"])) + off
        assume(schema["type"] == "number" or value == int(value))
        assert agrees(schema, f"{value.normalize():f}"), value


@pytest.mark.parametrize("step", [0.3, 0.7, 1.1, 0.15])
@pytest.mark.parametrize("low", [{}, {"minimum": 0}])
def test_fractions_of_any_step_are_held(step: float, low: dict[str, int]) -> None:
    schema = {"type": "number", "multipleOf": step, **low}
    assert unenforced(schema) == []
    for count in (0, 1, -1, 2, 7, 10, 99, 12_345):
        exact = Decimal(repr(step)) * count
        assert agrees(schema, f"{exact.normalize():f}")
        assert agrees(schema, f"{exact + Decimal('0.01'):f}")
        assert agrees(schema, f"{exact + 1:f}")


@pytest.mark.parametrize("schema", [{"type": "integer", "multipleOf": 7}, {"type": "number", "multipleOf": 12}])
def test_they_are_written_without_leading_zeros_and_in_a_sane_length(schema: dict[str, Any]) -> None:
    tag = json_tag(schema)
    assert refusal(tag, "0") is None
    assert refusal(tag, str(84 * 10**12)) is None
    for text in ("084", "-0", "00", str(84 * 10**15), "1e3", ""):
        assert refusal(tag, text) is not None, text


@given(low=st.integers(1, 3000), size=st.integers(0, 3000))
def test_spans_hold_every_integer_once(low: int, size: int) -> None:
    found = [
        number for head, left in spans(low, low + size) for number in range(int(head) * 10**left, (int(head) + 1) * 10**left)
    ]
    assert found == list(range(low, low + size + 1))
