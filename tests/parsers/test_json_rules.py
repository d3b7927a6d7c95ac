"""JSON Schemas as rules: a decoder held to them agrees with a validator, but for what is listed as not held."""

import json

import jsonschema_rs
import pytest

import parsers
from gateway.chat.plan import Constraint
from gateway.planning import grammar_check
from parsers.grammars import json_tag, unenforced
from tests.support.decoders import refusal


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
        ({**TWO, "allOf": [{**TWO["allOf"][1], "$ref": "#/$defs/named"}, {}]}, [{"b": 1, "a": "x"}, {"a": "x"}, {"b": 1}]),
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
        (_text("^a|b$"), ["ab", "b", "cb", "ba"]),
        (_text("^[a-z]+$", maxLength=2), ["ab", "abc", ""]),
        (_text("^[a-z]{2}-[0-9]+$", maxLength=5, minLength=4), ["ab-1", "ab-12", "ab-123"]),
        ({"type": "string", "maxLength": 60}, ["a" * 60, "a" * 61, ""]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["a", "ab", "abc", "abcd"]),
        ({"type": "string", "minLength": 50}, ["a" * 49, "é" * 50, '"' * 60, "\n" * 49]),
        ({"type": "string", "minLength": 1}, ["", "a", "\\", "ab"]),
        ({"type": "string", "minLength": 130, "maxLength": 131}, ["a" * size for size in (129, 130, 131, 132)]),
        ({"type": "string", "minLength": 20, "maxLength": 20}, ["ä\t" * 10, "a" * 19, "a" * 21]),
        ({"type": "string", "maxLength": 4}, ["", "a\n\\é", "a" * 5, "日本語文字"]),
        ({"type": "string", "maxLength": 300}, ["a" * 300, "\n" * 300, "a" * 301, ""]),
        ({"type": "string", "minLength": 3, "maxLength": 1000}, ["a" * size for size in (2, 3, 128, 257, 1000, 1001)]),
        ({"type": "string", "maxLength": 40_000}, ["a" * size for size in (0, 16_500, 40_000, 40_001)]),
        (_text("^.{0,300}$"), ["a" * 300, '"\t' * 150, "a" * 301, "a\nb", ""]),
        (_text("^(ab|cd){100,200}$"), ["ab" * 100, "cd" * 200, "ab" * 99, "ab" * 201]),
        (_text("^x[^,]{20,}$"), ["x" + "a" * 20, "x" + "a" * 19, "x" + "b" * 99, "x" + "," * 20]),
        (_text("^[a-z0-9]{1,200}$"), ["a" * 200, "a" * 201, "", "A"]),
        ({"type": "string", "format": "iban"}, ["any"]),
        ({"type": "number", "multipleOf": 0.5}, [1.5, 2, 1.25, -0.5]),
        ({"type": "integer", "multipleOf": 25}, [75, 1000, 10, 0, -25]),
        ({"type": "integer"}, [10**18, -1, 1.5]),
        ({"type": "number"}, [1e-07, 1e21, 0.1, -3, 6.02e23]),
        ({"type": "number", "minimum": 0, "exclusiveMaximum": 1}, [0, 1e-05, 0.999, 1, -0.1]),
        ({"allOf": [{"minimum": 3}, {"type": "integer", "minimum": 5}]}, [4, 5]),
        ({"type": ["integer", "string"], "minimum": 3, "minLength": 2}, [2, 3, "a", "ab"]),
        (
            {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 2},
            [["a"], ["a", "a"], ["c", "a"]],
        ),
        (
            {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "null"}, "maxItems": 2},
            [["a", None], [None], [], ["a", None, None]],
        ),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 2},
            [{}, {"a": 1}, {"a": 1, "b": 2, "c": 3}],
        ),
        (
            {"type": "object", "properties": {"ab": {"type": "null"}}, "additionalProperties": {"type": "integer"}},
            [{"ab": 1}, {"ab": None, "a": 1}, {"abc": 1}, {"b": 2}],
        ),
        ({"type": "object", "propertyNames": {"pattern": "^[a-z]$"}}, [{"a": 1}, {"A": 1}, {}]),
        (
            {
                "oneOf": [
                    {"type": "object", "properties": {"k": {"const": "x"}}, "required": ["k"]},
                    {"type": "object", "properties": {"k": {"const": "y"}, "n": {"type": "null"}}, "required": ["k"]},
                ]
            },
            [{"k": "x"}, {"k": "y", "n": None}, {"k": "z"}],
        ),
        ({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 5, "maximum": 1}]}, ["a", 3]),
        (
            {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
            [[], [[], [[]]], [1]],
        ),
        ({"const": {"a": [1, "x"]}}, [{"a": [1, "x"]}, {"a": []}]),
        ({}, [None, {"a": [1.5, {}]}, "x"]),
    ],
)
def test_the_decoder_agrees_with_a_validator(schema, values):
    validator = (
        jsonschema_rs.Draft7Validator(schema) if isinstance(schema.get("items"), list) else jsonschema_rs.validator_for(schema)
    )
    assert unenforced(schema) == []
    for value in values:
        assert (refusal(json_tag(schema), json.dumps(value)) is None) == validator.is_valid(value), value


@pytest.mark.parametrize(
    ("schema", "left", "value"),
    [
        ({"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": True}}}, "properties.tags.uniqueItems", {}),
        ({"not": {"type": "string"}}, "not", 1),
        (_text("^(?=a).*$"), "pattern", "ab"),
        (_text(r"^\p{L}+$"), "pattern", "ab"),
        (_text("^(a+|b+)c*$", maxLength=2), "maxLength", "aac"),
        (_text("^a", format="email"), "format", "ab"),
        ({"type": "string", "format": "regex"}, "format", "("),
        ({"type": "string", "minLength": 10**9}, "minLength", "ab"),
        ({"type": "number", "multipleOf": 0.3, "minimum": 0.5}, "multipleOf", 1.6),
        ({"type": "integer", "multipleOf": 1009, "minimum": 3}, "multipleOf", 4),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "oneOf", 1.5),
        ({"type": "array", "items": {"type": "object", "dependentRequired": {"a": ["b"]}}}, "items.dependentRequired", [{}]),
        ({"type": "array", "contains": {"const": 1}}, "contains", [2, 1]),
        ({"type": "array", "maxItems": 100_000}, "maxItems", []),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "minProperties": 1}, "minProperties", {}),
        ({"allOf": [_text("^a"), _text("b$")]}, "allOf.1.pattern", "ab"),
    ],
)
def test_what_cannot_be_said_is_listed_and_left_out(schema, left, value):
    assert unenforced(schema) == [left]
    assert refusal(json_tag(schema), json.dumps(value)) is None


@pytest.mark.parametrize("name", parsers.names())
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
def test_arguments_that_nothing_satisfies_are_not_left_out(name, dialect):
    neither = {"allOf": [{"type": "integer"}, {"type": "string"}]}
    schema = {"type": "object", "properties": {"a": neither, "b": {"type": "string"}}, "required": ["b"]}
    wanted = parsers.Tool("f", parameters={**schema, "required": ["a"]})
    try:
        grammar = parsers.constraint(parsers.get(name), [wanted], "required", dialect=dialect)
        assert grammar_check.problem_of(Constraint(dialect, grammar)) is not None
    except parsers.ConstraintError:
        pass
    optional = parsers.constraint(parsers.get(name), [parsers.Tool("f", parameters=schema)], "required", dialect=dialect)
    turn = parsers.write(parsers.get(name), parsers.Message(tool_calls=(parsers.ToolCall("f", '{"b": "x"}'),)))
    assert refusal(optional, turn) is None


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
