"""Text of an untyped format to JSON, by the types that the tool's schema allows."""

import ast
import json
import math
from collections.abc import Mapping
from typing import Any

from ..message import Tool
from ..schema import member_of, property_of, types_of
from .json_value import JsonValue, State
from .surrogates import encodable, is_encodable


def allowed_types(tool: Tool | None, key: str) -> frozenset[str]:
    """The types an argument may have; only `string` when nothing is known of it."""
    if tool is None:
        return frozenset({"string"})
    schema = member_of(tool.parameters, tool.parameters, key)
    return types_of(schema, tool.parameters) or frozenset({"string"})


def knows(tool: Tool | None, key: str) -> bool:
    """Whether the tool declares this argument."""
    return tool is not None and property_of(tool.parameters, tool.parameters, key) is not None


def unescaped(text: str) -> str:
    """Text without the entities that attributes are written with."""
    return text.replace("&quot;", '"').replace("&amp;", "&")


def quoted(text: str) -> str:
    """A JSON string."""
    return json.dumps(text, ensure_ascii=False)


def typed(text: str, types: frozenset[str]) -> str:
    """The JSON text of a value: the first allowed type that it can be, else a string as it is written.

    Order: null, integer, number, boolean, object or array, string.
    """
    if types == {"string"}:
        return quoted(text)
    word = text.strip()
    for reading in (_null, _integer, _number, _boolean, _container):
        found = reading(word, types)
        if found is not None:
            return found
    inner = _inner(word) if "string" not in types else None
    return quoted(text) if inner is None else typed(inner, types)


def _inner(word: str) -> str | None:
    """The text of a JSON string, where a value is one that should be none."""
    try:
        text = json.loads(word) if word[:1] == '"' else None
    except ValueError:
        return None
    return text if isinstance(text, str) and is_encodable(text) and text[:1] != '"' else None


def _null(word: str, types: frozenset[str]) -> str | None:
    if "null" not in types:
        return None
    return "null" if word == "null" or (word == "None" and "string" not in types) else None


def _integer(word: str, types: frozenset[str]) -> str | None:
    digits = word.removeprefix("-")
    if "integer" not in types or not (digits.isascii() and digits.isdigit()):
        return None
    if digits.startswith("0") and digits != "0":
        return None if "string" in types else word.replace(digits, digits.lstrip("0") or "0")
    return word


def _number(word: str, types: frozenset[str]) -> str | None:
    if not types & {"number", "integer"}:
        return None
    try:
        value = json.loads(word)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if "number" in types:
        return word
    return str(int(value)) if value == int(value) else None


def _boolean(word: str, types: frozenset[str]) -> str | None:
    if "boolean" not in types:
        return None
    lowered = word.lower()
    if lowered in ("true", "false"):
        return lowered
    return {"1": "true", "0": "false"}.get(word) if not types & {"integer", "number", "string"} else None


def _container(word: str, types: frozenset[str]) -> str | None:
    wanted = tuple(bracket for name, bracket in (("object", "{"), ("array", "[")) if name in types)
    if not wanted or not word.startswith(wanted):
        return None
    value = JsonValue(python=True)
    end = value.feed(word, 0)
    if value.state is not State.DONE or word[end:].strip():
        return _python_container(word)
    return value.take()


def _python_container(word: str) -> str | None:
    """A dict or list that only Python can read, such as one with adjacent strings."""
    if len(word) > 100_000:
        return None
    try:
        value: Any = ast.literal_eval(word)
        written = encodable(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return written if isinstance(value, Mapping | list) else None


def as_json_or_text(text: str) -> str:
    """The JSON text that a value already is, else the value as a string."""
    value = JsonValue()
    word = text.strip()
    end = value.feed(word, 0)
    value.finish()
    if value.state is State.DONE and end == len(word):
        return value.take()
    return quoted(text)


def members_of(raw: str, tool: Tool | None) -> str | None:
    """The members of the JSON object that a value is, without its braces; None unless the tool declares all of them."""
    value = JsonValue()
    word = raw.strip()
    end = value.feed(word, 0)
    written = value.take().strip()
    if value.state is not State.DONE or word[end:].strip() or not written.startswith("{"):
        return None
    members = json.loads(written)
    return written[1:-1].strip() if members and all(knows(tool, key) for key in members) else None
