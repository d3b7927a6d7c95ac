"""What xgrammar would read wrongly is said otherwise: its decoder agrees with a validator, but for what is listed as not held."""

import json

import jsonschema_rs
import pytest

import parsers
from parsers.grammars import unenforced
from parsers.grammars.schema_for_xgrammar import schema_for_xgrammar
from tests.support.decoders import refusal


def _tag(schema):
    inner = {"type": "json_schema", "json_schema": schema_for_xgrammar(schema), "max_whitespace_cnt": 1}
    return {"type": "structural_tag", "format": inner}


def _text(pattern, **more):
    return {"type": "string", "pattern": pattern, **more}


TWO = {
    "allOf": [
        {"$ref": "#/$defs/named"},
        {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
    ],
    "$defs": {"named": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}},
}
EITHER = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
}
MISSING = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a", "z"],
    "additionalProperties": {"type": "integer"},
}


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (_text("abc"), ["abc", "xabcx", "ab", ""]),
        (_text("^x_"), ["x_", "x_a", "ax_"]),
        (_text("_x$"), ["_x", "a_x", "_xa"]),
        (_text('^a"b$'), ['a"b', "ab"]),
        (_text(r"^\\x$"), ["\\x", "x"]),
        (_text("a|b"), ["a", "xb", "c"]),
        (_text("^(a|b)$"), ["a", "b", "ab"]),
        (_text(r"^[\w.-]+\.(?:py|md)$"), ["a.b.py", "a.c"]),
        (TWO, [{"a": "x", "b": 1}, {"a": "x"}, {"b": 1}, 1]),
        (EITHER, [{"a": "x"}, {"b": "x"}, {"a": "x", "b": "y"}, {}]),
        (MISSING, [{"a": "x", "z": 1}, {"a": "x"}, {"a": "x", "z": "y"}]),
        ({"type": "string", "enum": ["a", None]}, ["a", None]),
        (
            {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False},
            [{"next": {"next": {}}}, {"next": 1}],
        ),
        (
            {"type": "object", "patternProperties": {"^x_": {"type": "integer"}}, "additionalProperties": False},
            [{"x_a": 1}, {"y": 1}],
        ),
        ({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}, [["a", 1], [1, 1]]),
    ],
)
def test_the_decoder_agrees_with_a_validator(schema, values):
    validator = (
        jsonschema_rs.Draft7Validator(schema) if isinstance(schema.get("items"), list) else jsonschema_rs.validator_for(schema)
    )
    assert unenforced(schema) == []
    for value in values:
        assert (refusal(_tag(schema), json.dumps(value)) is None) == validator.is_valid(value), value


@pytest.mark.parametrize(
    ("schema", "left", "value"),
    [
        ({"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": True}}}, "properties.tags.uniqueItems", {}),
        ({"not": {"type": "string"}}, "not", 1),
        (_text("^(?=a).*$"), "pattern", "ab"),
        (_text(r"^\p{L}+$"), "pattern", "ab"),
        (_text("^a|b$"), "pattern", "ab"),
        (_text("^[a-z]+$", maxLength=2), "maxLength", "ab"),
        ({"type": "string", "format": "iban"}, "format", "ab"),
        ({"type": "number", "multipleOf": 0.5}, "multipleOf", 1.5),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "oneOf", 1.5),
        ({"type": "array", "items": {"type": "object", "dependentRequired": {"a": ["b"]}}}, "items.dependentRequired", [{}]),
        ({"type": "array", "contains": {"const": 1}}, "contains", [2, 1]),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "allOf.1.type", "ab"),
    ],
)
def test_what_cannot_be_said_is_listed_and_left_out(schema, left, value):
    assert unenforced(schema) == [left]
    assert refusal(_tag(schema), json.dumps(value)) is None


@pytest.mark.parametrize("name", ["qwen3_coder", "llama4_pythonic", "deepseek_v32", "minimax_m3"])
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
def test_references_lead_somewhere_from_inside_a_call(name, dialect):
    schema = {
        "type": "object",
        "properties": {
            "size": {
                "type": "object",
                "properties": {"w": {"type": "integer"}},
                "required": ["w"],
                "additionalProperties": False,
            },
            "other": {"type": "array", "items": {"$ref": "#/properties/size"}},
        },
        "required": ["other"],
    }
    fmt = parsers.get(name)
    constraint = parsers.constraint(fmt, [parsers.Tool("f", parameters=schema)], "required", dialect=dialect)

    def turn(width):
        return parsers.write(fmt, parsers.Message(tool_calls=(parsers.ToolCall("f", json.dumps({"other": [{"w": width}]})),)))

    assert refusal(constraint, turn(3)) is None
    assert refusal(constraint, turn("wide")) is not None
