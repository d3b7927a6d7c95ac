"""Text of an untyped format becomes the first type that the schema allows and the text can be."""

import pytest

from parsers.message import Tool
from parsers.readers.values import allowed_types, as_json_or_text, knows, typed

SCHEMA = {
    "$defs": {"count": {"type": "integer"}, "both": {"anyOf": [{"$ref": "#/$defs/count"}, {"type": "string"}]}},
    "type": "object",
    "properties": {
        "plain": {"type": "string"},
        "refers": {"$ref": "#/$defs/count"},
        "far": {"$ref": "#/$defs/both"},
        "lost": {"$ref": "#/$defs/nowhere"},
        "circle": {"$ref": "#/properties/circle"},
        "either": {"oneOf": [{"type": "boolean"}, {"type": "array"}]},
        "all": {"allOf": [{"description": "x"}, {"type": "number"}]},
        "list": {"type": ["integer", "null"]},
        "nullable": {"type": "integer", "nullable": True},
        "enum": {"enum": [1, "a", None]},
        "const": {"const": True},
        "shape": {"properties": {}},
        "silent": {},
    },
}
TOOL = Tool("f", parameters=SCHEMA)


@pytest.mark.parametrize(
    ("key", "types"),
    [
        ("plain", "string"),
        ("refers", "integer"),
        ("far", "integer string"),
        ("lost", "string"),
        ("circle", "string"),
        ("either", "boolean array"),
        ("all", "number"),
        ("list", "integer null"),
        ("nullable", "integer null"),
        ("enum", "integer string null"),
        ("const", "boolean"),
        ("shape", "object"),
        ("silent", "string"),
        ("unknown", "string"),
    ],
)
def test_the_types_that_a_schema_allows(key: str, types: str) -> None:
    assert allowed_types(TOOL, key) == frozenset(types.split())
    assert knows(TOOL, key) == (key != "unknown")
    assert allowed_types(None, key) == frozenset({"string"})


@pytest.mark.parametrize(
    ("text", "types", "written"),
    [
        ("00123", "string", '"00123"'),
        ("true", "string", '"true"'),
        ('{"a":1}', "string", '"{\\"a\\":1}"'),
        ("null", "string", '"null"'),
        ("null", "integer null", "null"),
        ("null", "integer", '"null"'),
        ("None", "null integer", "null"),
        ("None", "null string", '"None"'),
        ("12345678901234567890123", "integer", "12345678901234567890123"),
        (" -7\n", "integer", "-7"),
        ("007", "integer string", '"007"'),
        ("5", "integer string", "5"),
        ("5.0", "integer", "5"),
        ("5.5", "integer", '"5.5"'),
        ("1.0", "number", "1.0"),
        ("1e400", "number", '"1e400"'),
        ("nan", "number", '"nan"'),
        ("Infinity", "number", '"Infinity"'),
        ("True", "boolean", "true"),
        ("FALSE", "boolean", "false"),
        ("1", "boolean", "true"),
        ("1", "boolean integer", "1"),
        ("yes", "boolean", '"yes"'),
        ("[1, {'a': None}]", "array", '[1, {"a": null}]'),
        ("{'a': (1,)}", "object", '{"a": [1]}'),
        ("[1", "array", '"[1"'),
        ("{}", "array", '"{}"'),
        ("['a' 'b']", "array", '["ab"]'),
        ("[1]", "array string", "[1]"),
        ("['\\ud83d' 'x']", "array", '["\\ud83dx"]'),
    ],
)
def test_the_first_type_that_a_text_can_be(text: str, types: str, written: str) -> None:
    assert typed(text, frozenset(types.split())) == written


@pytest.mark.parametrize(
    ("text", "written"), [(" 3 ", "3"), ('{"a": 1.0}', '{"a": 1.0}'), ("Oslo", '"Oslo"'), ("3 4", '"3 4"'), ("", '""')]
)
def test_json_or_else_text(text: str, written: str) -> None:
    assert as_json_or_text(text) == written
