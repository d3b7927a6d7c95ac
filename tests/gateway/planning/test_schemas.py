"""Which schemas are accepted, and what breaks them."""

from typing import Any

import pytest

from gateway.planning import schemas
from tests.support.planned import CITY

OUTSIDE = "lies outside of the schema"


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "object", "properties": {"a": {"type": "strange"}}}, "In context=('properties', 'a', 'type'), \"strange\""),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}, "Pointer '/$defs/none' does not exist"),
        ({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}, OUTSIDE),
        ({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}, OUTSIDE),
        ({"type": "object", "properties": {"a": {"pattern": "(?="}}}, 'is not a "regex"'),
        ({"type": "object", "required": "a"}, 'is not of type "array"'),
    ],
)
def test_a_schema_nothing_can_be_held_to_is_refused(schema: dict[str, Any], told: str) -> None:
    assert told in (schemas.problem_of(schema) or "")


@pytest.mark.parametrize(
    "schema",
    [
        {},
        CITY,
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"properties": {"a": {"$ref": "#/$defs/n"}}}},
        },
        {"type": "object", "properties": {"pair": {"type": "array", "items": [{"type": "string"}]}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "definitions": {"a": {"type": "string"}}},
        {"$schema": "http://127.0.0.1:9/of-nobody", "type": "object"},
    ],
)
def test_what_clients_send_is_accepted(schema: dict[str, Any]) -> None:
    assert schemas.problem_of(schema) is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"city": "Paris"}', None),
        ('{"city": "Paris", "unit": "C"}', None),
        ('{"city": "Paris", "unit": "K"}', "['unit'] breaks properties/unit/enum"),
        ('{"city": ""}', "['city'] breaks properties/city/minLength"),
        ("{}", "the object itself breaks required"),
        ('{"city": "Paris", "x": 1}', "the object itself breaks additionalProperties"),
        ("[]", "arguments are no object but list"),
        ('{"city": NaN}', "arguments are not JSON: NaN is not JSON"),
        ('{"city": "Par', "arguments are not JSON"),
        ("[" * 100_000, "arguments are not JSON"),
    ],
)
def test_a_violation_names_place_and_rule_but_no_value(arguments: str, told: str | None) -> None:
    found = schemas.violation(arguments, CITY)
    assert (found is None) if told is None else (found is not None and told in found)
    assert "Paris" not in (found or "")


def test_formats_are_asserted() -> None:
    schema = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}
    assert schemas.violation('{"day": "2026-11-30"}', schema) is None
    assert schemas.violation('{"day": "tomorrow"}', schema) == "['day'] breaks properties/day/format"


def test_a_pattern_cannot_take_forever() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?=a)(a+)+$"}}}
    assert schemas.violation('{"a": "' + "a" * 5000 + '!"}', schema) is not None
