"""Which schemas a strict tool or answer may have, in OpenAI's words, and what each policy makes of the others."""

import json
from typing import Any

import pytest

from gateway.chat.request import ChatRequest, ResponseFormat
from gateway.errors import ResponseSchemaInvalid, ToolSchemaInvalid
from gateway.planning.strict import Policy, with_usable_schemas
from gateway.planning.strict_repair import narrowed
from parsers import Tool
from tests.support.planned import asked

TEXT = {"type": "string"}
CLOSED = "'additionalProperties' is required to be supplied and to be false."
REQUIRED = "'required' is required to be supplied and to be an array including every key in properties."
TOP = "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
POINTS = "reference can only point to definitions defined at the top level of the schema, got"
LEVEL = "In context=('properties', 'x')"


def of(**properties: Any) -> dict[str, Any]:
    """A schema that keeps every rule but those that its properties break."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = TEXT
    for _ in range(levels):
        schema = of(inner=schema)
    return schema


def used(schema: dict[str, Any], policy: Policy = "openai", *, strict: bool = True) -> ChatRequest:
    return with_usable_schemas(asked(tools=(Tool("book", parameters=schema, strict=strict),)), policy)


def refusal(schema: dict[str, Any], policy: Policy = "openai", *, strict: bool = True) -> str | None:
    """What the error says behind its preamble."""
    try:
        used(schema, policy, strict=strict)
    except ToolSchemaInvalid as error:
        return str(error).removeprefix("Invalid schema for function 'book': ")
    return None


ACCEPTED = {
    "no parameters": {},
    "no properties": {"type": "object", "properties": {}, "additionalProperties": False},
    "a nullable": of(unit={"type": ["string", "null"], "enum": ["km", "mi", None]}),
    "a union": of(x={"anyOf": [TEXT, of(deep={"type": "number"}), {"type": "null"}]}),
    "whole and broken numbers": of(x={"type": "number", "enum": [1, 2.5]}),
    "a constant": of(x={"type": "string", "const": "fixed"}),
    "bounds": of(x={"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2}, y={**TEXT, "minLength": 1}),
    "a list": of(x={"type": "array", "items": TEXT, "minItems": 1, "maxItems": 3}),
    "formats": of(x={**TEXT, "format": "duration"}, y={**TEXT, "format": "ipv6"}),
    "a pattern": of(x={**TEXT, "pattern": r"^\(?[?=!]+$"}),
    "itself": of(x={"type": "array", "items": {"$ref": "#"}}),
    "definitions": {**of(x={"$ref": "#/$defs/a~1b"}), "$defs": {"a/b": of(y=TEXT)}},
    "a circle": {**of(x={"$ref": "#/definitions/n"}), "definitions": {"n": of(n={"anyOf": [{"$ref": "#/definitions/n"}, TEXT]})}},
    "annotations": {
        **of(x={**TEXT, "title": "X", "default": "y", "examples": ["z"], "$comment": "c"}),
        "$schema": "x",
        "title": "T",
    },
    "ten levels": nested(10),
    "250 long names": of(x={**TEXT, "enum": [f"{'n' * 80}{number}" for number in range(250)]}),
    "1000 values": of(x={"type": "integer", "enum": list(range(1000))}),
}
REFUSED = {
    "a list at the top": (
        {"type": "array", "items": TEXT},
        "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'.",
    ),
    "no type at the top": ({"properties": {}}, "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'."),
    "null at the top": (
        {**of(), "type": ["object", "null"]},
        "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"['object', 'null']\"'.",
    ),
    "a choice at the top": ({**of(), "oneOf": [of()]}, TOP),
    "a negation at the top": ({**of(), "not": {}}, TOP),
    "open": ({"type": "object", "properties": {"x": TEXT}, "required": ["x"]}, f"In context=(), {CLOSED}"),
    "open below": (
        of(x={"type": "array", "items": {"type": "object", "properties": {}}}),
        f"In context=('properties', 'x', 'items'), {CLOSED}",
    ),
    "zero is not false": ({**of(x=TEXT), "additionalProperties": 0}, f"In context=(), {CLOSED}"),
    "a map": (of(x={"type": "object", "properties": {}, "additionalProperties": TEXT}), f"{LEVEL}, {CLOSED}"),
    "open in a nullable": (of(x={"type": ["object", "null"], "properties": {}}), f"{LEVEL}, {CLOSED}"),
    "optional": ({**of(x=TEXT, y=TEXT), "required": ["x"]}, f"In context=(), {REQUIRED} Missing 'y'."),
    "nothing required": ({**of(x=TEXT), "required": None}, f"In context=(), {REQUIRED} Missing 'x'."),
    "too much required": ({**of(x=TEXT), "required": ["x", "z"]}, f"In context=(), {REQUIRED} Extra required key 'z' supplied."),
    "no properties": (of(x={"type": "object", "additionalProperties": False}), f"{LEVEL}, object schema missing properties."),
    "anything": (of(x={}), f"{LEVEL}, schema must have a 'type' key."),
    "true": (of(x=True), f"{LEVEL}, schema must have a 'type' key."),
    "a bare constant": (of(x={"const": 1}), f"{LEVEL}, schema must have a 'type' key."),
    "anything in a list": (
        of(x={"type": "array", "items": {}}),
        "In context=('properties', 'x', 'items'), schema must have a 'type' key.",
    ),
    "anything in a union": (
        of(x={"anyOf": [TEXT, {}]}),
        "In context=('properties', 'x', 'anyOf', '1'), schema must have a 'type' key.",
    ),
    "anything in a definition": (
        {**of(x={"$ref": "#/$defs/a"}), "$defs": {"a": {}}},
        "In context=('$defs', 'a'), schema must have a 'type' key.",
    ),
    "a strange type": (of(x={"type": "text"}), f"{LEVEL}, 'text' is not valid under any of the given schemas."),
    "one strange type": (
        of(x={"type": ["string", "nil"]}),
        f"{LEVEL}, ['string', 'nil'] is not valid under any of the given schemas.",
    ),
    "no items": (of(x={"type": "array"}), f"{LEVEL}, array schema missing items."),
    "a tuple": (of(x={"type": "array", "items": [TEXT]}), f"{LEVEL}, 'items' must be a schema, not an array."),
    "mixed values": (of(x={"type": ["string", "integer"], "enum": ["a", 1]}), f"{LEVEL}, enum values must be of the same type."),
    "booleans are no numbers": (
        of(x={"type": ["boolean", "integer"], "enum": [True, 1]}),
        f"{LEVEL}, enum values must be of the same type.",
    ),
    "no values": (of(x={**TEXT, "enum": []}), f"{LEVEL}, enum must be a non-empty array."),
    "a described reference": (
        {**of(x={"$ref": "#/$defs/a", "title": "t", "description": "d"}), "$defs": {"a": TEXT}},
        "context=('properties', 'x'), $ref cannot have keywords {'title', 'description'}.",
    ),
    "a reference to a property": (of(y=TEXT, x={"$ref": "#/properties/y"}), f"{LEVEL}, {POINTS} '#/properties/y'."),
    "a reference to elsewhere": (of(x={"$ref": "http://127.0.0.1:9/s.json"}), f"{LEVEL}, {POINTS} 'http://127.0.0.1:9/s.json'."),
    "a reference to nothing": (
        of(x={"$ref": "#/definitions/a"}),
        f"{LEVEL}, reference to component '#/definitions/a' which was not found in the schema.",
    ),
    "no regular expression": (of(x={**TEXT, "pattern": "[a"}), f"{LEVEL}, '[a' is not a 'regex'."),
    "a look behind": (of(x={**TEXT, "pattern": r"\(?(?<!a)b"}), f"{LEVEL}, pattern lookaround is not permitted."),
    "another format": (of(x={**TEXT, "format": "uri"}), f"{LEVEL}, 'uri' is not a valid format."),
    "eleven levels": (nested(11), "11 levels of nesting exceeds limit of 10."),
    "too many properties": (of(**{f"p{n}": TEXT for n in range(5001)}), "5001 parameters exceeds limit of 5000."),
    "too many values": (
        of(x={"type": "integer", "enum": list(range(600))}, y={"type": "integer", "enum": list(range(401))}),
        "1001 enum values exceeds limit of 1000.",
    ),
    "too long values": (
        of(x={**TEXT, "enum": [f"{'n' * 97}{n:03}" for n in range(251)]}),
        f"{LEVEL}, enum with 251 values has total string length 25100, exceeds limit of 15000.",
    ),
    "too long names": (
        of(**{f"{'n' * 246}{n:04}": TEXT for n in range(481)}),
        "total length of names and values 120250 exceeds limit of 120000.",
    ),
}
KEYWORDS = (
    "oneOf allOf not if then else dependentRequired dependentSchemas patternProperties propertyNames minProperties maxProperties "
    "unevaluatedProperties unevaluatedItems prefixItems uniqueItems contains minContains maxContains contentEncoding $dynamicRef"
).split()


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_schema_that_keeps_the_rules_is_left_as_it_is(name: str) -> None:
    request = used(ACCEPTED[name])
    assert request.tools[0].parameters == ACCEPTED[name]
    assert request.warnings == ()


@pytest.mark.parametrize("name", REFUSED)
def test_a_broken_rule_is_told_with_its_place(name: str) -> None:
    schema, told = REFUSED[name]
    with pytest.raises(ToolSchemaInvalid) as refused:
        used(schema)
    error = refused.value
    assert str(error) == f"Invalid schema for function 'book': {told}"
    assert (error.status, error.code, error.param) == (400, "invalid_function_parameters", "tools[0].function.parameters")


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_keywords_that_are_not_permitted(keyword: str) -> None:
    assert refusal(of(x={**TEXT, keyword: {}})) == f"{LEVEL}, '{keyword}' is not permitted."


def test_what_keeps_the_rules_must_still_be_json_schema() -> None:
    assert refusal(of(x={**TEXT, "minLength": "one"})) is not None
    assert refusal(of(x={"anyOf": "none"})) is not None


def test_shapes_that_are_no_schema_at_all_are_refused_and_never_raise() -> None:
    policies: tuple[Policy, ...] = ("openai", "repair")
    for broken in (
        {"properties": [1]},
        {"required": [[]]},
        {"enum": {}},
        {"type": [[]]},
        {"pattern": 3},
        {"$ref": []},
        {"anyOf": 1},
    ):
        for policy in policies:
            assert refusal(of(x={"type": "object", "properties": {"y": TEXT}, **broken}), policy) is not None
    assert refusal(of(x={**of(y=TEXT), "$defs": 3})) is None


def test_the_first_error_wins_and_tools_that_are_not_chosen_count() -> None:
    good, bad = Tool("good", parameters=of(x=TEXT), strict=True), Tool("bad", parameters=of(x={}), strict=True)
    worse = Tool("worse", parameters={"type": "array"})
    for choice in ("auto", "none", "=good"):
        with pytest.raises(ToolSchemaInvalid, match="'bad'") as refused:
            with_usable_schemas(asked(tools=(good, bad, worse), choice=choice), "openai")
        assert refused.value.param == "tools[1].function.parameters"


def test_another_protocol_names_its_own_places() -> None:
    tools = (Tool("f", parameters=of(x={}), strict=True),)
    with pytest.raises(ToolSchemaInvalid) as refused:
        with_usable_schemas(asked(tools=tools, tool_places=("tools[3].tools[1].parameters",)), "openai")
    assert (refused.value.param, refused.value.code) == ("tools[3].tools[1].parameters", "invalid_function_parameters")
    wanted = ResponseFormat("json_schema", of(x={}), "n", strict=True, place="text.format.schema", code="invalid_json_schema")
    with pytest.raises(ResponseSchemaInvalid) as refused_answer:
        with_usable_schemas(asked(response_format=wanted), "openai")
    assert (refused_answer.value.param, refused_answer.value.code) == ("text.format.schema", "invalid_json_schema")


def test_an_answers_schema_is_held_to_the_same_rules() -> None:
    wanted = ResponseFormat("json_schema", {"type": "array", "items": TEXT}, "rows", strict=True)
    with pytest.raises(ResponseSchemaInvalid) as refused:
        with_usable_schemas(asked(response_format=wanted), "openai")
    assert str(refused.value) == (
        "Invalid schema for response_format 'rows': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'."
    )
    assert (refused.value.param, refused.value.code) == ("response_format", None)
    loose = ResponseFormat("json_schema", {"type": "array"}, "rows")
    assert with_usable_schemas(asked(response_format=loose), "openai").response_format == loose


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "object", "properties": {"x": {}, "y": {"oneOf": [TEXT]}}}, None),
        ({"type": "object", "properties": {"x": {"type": "array"}}}, f"{LEVEL}, array schema missing items."),
        ({"type": "object", "properties": {"x": {"type": "array", "prefixItems": [TEXT]}}}, None),
        ({"type": "object", "anyOf": [{}]}, TOP),
        ({"type": "string"}, "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"string\"'."),
    ],
)
def test_tools_that_are_not_strict_have_few_rules(schema: dict[str, Any], told: str | None) -> None:
    assert refusal(schema, strict=False) == told


@pytest.mark.parametrize("strict", [True, False])
def test_a_lenient_entry_takes_any_schema_of_an_object(strict: bool) -> None:
    odd = {"type": "object", "properties": {"x": {"type": "array"}, "y": {"oneOf": [{}]}}, "anyOf": [{"required": ["x"]}]}
    assert refusal(odd, "lenient", strict=strict) is None
    assert refusal({"type": "array"}, "lenient", strict=strict) is not None
    assert refusal({"type": "object", "properties": {"x": {"type": "text"}}}, "lenient", strict=strict) is not None


NARROWED = {
    "open and optional": (
        {"type": "object", "properties": {"x": TEXT, "y": {"type": "object", "properties": {"z": TEXT}}}, "required": ["x"]},
        of(x=TEXT, y=of(z=TEXT)),
    ),
    "described reference": (
        {**of(x={"$ref": "#/$defs/a", "description": "d"}), "$defs": {"a": {"properties": {"y": {"const": 1}}}}},
        {
            **of(x={**of(y={"type": "integer", "const": 1}), "description": "d"}),
            "$defs": {"a": of(y={"type": "integer", "const": 1})},
        },
    ),
    "an allOf of one": ({**of(x={"allOf": [TEXT], "title": "t"})}, of(x={**TEXT, "title": "t"})),
    "types that exclude each other": (of(x={"oneOf": [TEXT, {"type": "null"}]}), of(x={"anyOf": [TEXT, {"type": "null"}]})),
    "values": (
        of(x={"enum": ["a", "b"]}, y={"enum": ["a", None]}),
        of(x={**TEXT, "enum": ["a", "b"]}, y={"type": ["string", "null"], "enum": ["a", None]}),
    ),
}


@pytest.mark.parametrize("name", NARROWED)
def test_a_repairing_entry_narrows_a_schema_to_the_rules(name: str) -> None:
    schema, expected = NARROWED[name]
    assert refusal(schema) is not None
    request = used(schema, "repair")
    assert request.tools[0].parameters == expected
    (warning,) = request.warnings
    assert warning.startswith("schema of function 'book' was narrowed: ")
    assert refusal(schema, "repair", strict=False) is None
    assert used(schema, "repair", strict=False).tools[0].parameters == schema


@pytest.mark.parametrize(
    "schema",
    [
        of(x={"type": "object"}),
        of(x={"type": "object", "properties": {}, "additionalProperties": TEXT}),
        of(x={"oneOf": [{"type": "integer"}, {"type": "number"}]}),
        of(x={"allOf": [TEXT, {"minLength": 1}]}),
        of(x={"allOf": [{"$ref": "#"}], "minLength": 1}),
        {**of(x=TEXT), "required": ["x", "z"]},
        {**of(x={"$ref": "#/$defs/a", "title": "t"}), "$defs": {"a": {"$ref": "#/$defs/a", "title": "t"}}},
    ],
)
def test_what_narrowing_would_change_in_meaning_is_still_refused(schema: dict[str, Any]) -> None:
    assert refusal(schema, "repair") is not None


def test_references_are_not_written_out_without_end() -> None:
    doubling = {
        f"d{n}": of(a={"$ref": f"#/$defs/d{n + 1}", "title": "a"}, b={"$ref": f"#/$defs/d{n + 1}", "title": "b"})
        for n in range(60)
    }
    schema = {**of(x={"$ref": "#/$defs/d0", "title": "x"}), "$defs": {**doubling, "d60": TEXT}}
    found, notes = narrowed(schema)
    assert len(notes) < 1000
    assert len(json.dumps(found)) < 1_000_000
    assert refusal(schema, "repair") is not None
