"""JSON Schemas as llguidance reads them."""

from collections.abc import Mapping
from typing import Any

OPTIONS = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "coerce_one_of": True,
    "lenient": True,
}
"""The spacing of `json.dumps`; alternatives need not exclude each other; keywords it does not know are left to later checks."""
MOST_ITEMS = 1000
"""llguidance builds a state for each item of an array that it counts: a thousand million of them end the whole process."""
_COUNTS = ("minItems", "maxItems")
_VALUES = ("const", "enum", "default", "examples")
_MAPS = ("properties", "patternProperties", "$defs", "definitions")
_LISTS = ("anyOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties")


def schema_for_llguidance(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with our spacing, whose objects hold nothing but what they declare unless they say so."""
    return {**closed(countable(schema)), "x-guidance": OPTIONS}


def is_countable(key: str, value: Any) -> bool:
    """Whether this keyword is no count of items, or one that llguidance can hold."""
    return key not in _COUNTS or not isinstance(value, int | float) or value <= MOST_ITEMS


def countable(schema: Any) -> Any:
    """The schema without counts of items that are too large to be held while decoding."""
    if isinstance(schema, list):
        return [countable(child) for child in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {key: value for key, value in schema.items() if is_countable(key, value)}
    return {key: value if key in _VALUES else countable(value) for key, value in kept.items()}


def closed(schema: Any) -> Any:
    """The schema with `additionalProperties: false` wherever it declares properties and says nothing of others.

    What an object requires is declared with it: llguidance refuses a required key that may not be.
    """
    if not isinstance(schema, Mapping):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, Mapping):
            result[key] = {name: closed(child) for name, child in value.items()}
        elif key in _LISTS and isinstance(value, list):
            result[key] = [closed(child) for child in value]
        elif key in _SINGLE:
            result[key] = closed(value)
        else:
            result[key] = value
    open_ended = {"additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "$ref"}
    if "properties" in schema and not open_ended & set(schema):
        result["additionalProperties"] = False
        if isinstance(result["properties"], dict) and isinstance(schema.get("required"), list):
            missing = [key for key in schema["required"] if isinstance(key, str) and key not in result["properties"]]
            result["properties"].update({key: {} for key in missing})
    return result
