"""Numbers for llguidance, written out wherever they stand: in schemas that mean themselves, and beyond exact doubles."""

import json

import pytest

from parsers.grammars.lark import lark
from parsers.grammars.shapes import Json
from tests.support.decoders import refusal

SUM = {
    "type": "object",
    "properties": {"of": {"$ref": "#/$defs/part"}},
    "required": ["of"],
    "additionalProperties": False,
    "$defs": {
        "part": {
            "anyOf": [
                {"type": "number", "minimum": -99, "maximum": 99},
                {
                    "type": "object",
                    "properties": {"left": {"$ref": "#/$defs/part"}, "right": {"$ref": "#/$defs/part"}},
                    "required": ["left", "right"],
                    "additionalProperties": False,
                },
            ]
        }
    },
}
TREE = {
    "type": "object",
    "properties": {"size": {"type": "number"}, "kids": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["size"],
    "additionalProperties": False,
}


def held(schema, value):
    return refusal(lark(Json(schema)), json.dumps(value)) is None


def sums(innermost, depth=12):
    found = innermost
    for _ in range(depth):
        found = {"left": found, "right": -0.5}
    return {"of": found}


def trees(innermost, depth=12):
    found = innermost
    for _ in range(depth):
        found = {"size": 1.5, "kids": [{"size": 2}, found]}
    return found


def test_a_schema_that_means_itself_holds_its_numbers_at_any_depth():
    assert held(SUM, sums(3))
    assert not held(SUM, sums(100))
    assert held(TREE, trees({"size": 1e-07}))
    assert not held(TREE, trees({"size": "1"}))
    assert refusal(lark(Json(TREE)), '{"size": 1, "kids": [{"size": 1e400}]}') is not None


@pytest.mark.parametrize(
    ("low", "high"), [(2**53 + 1, 2**53 + 7), (-(2**60) - 9, -(2**60)), (-1, 940_779_290_103_497_325), (2**53 - 1, 2**62)]
)
def test_integers_are_held_beyond_what_doubles_tell_apart(low, high):
    schema = {"type": "object", "properties": {"id": {"type": "integer", "minimum": low, "maximum": high}}, "required": ["id"]}
    for value in (low - 1, low, low + 1, high - 1, high, high + 1, high // 10 * 10 + 10, high // 1000 * 1000 + 1000):
        assert held(schema, {"id": value}) is (low <= value <= high), value


def test_a_schema_that_means_itself_without_large_numbers_is_one_of_llguidance():
    node = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    schema = {"type": "object", "properties": {"first": {"anyOf": [{"$ref": "#/$defs/node"}]}}, "$defs": {"node": node}}
    assert held(schema, {"first": {"n": 1, "next": {"n": 2, "next": {"n": 3}}}})
    assert not held(schema, {"first": {"n": 1, "next": {"n": "2"}}})
