"""JSON that misses its schema in form only, made to satisfy it. A value is changed only where one reading of it is left:

- a string, where the schema takes none, that is the JSON text of a value of the types it takes there (`"3"` for 3);
- an answer that is nothing but one fenced block, which is the text inside of it.

Whatever else is wrong is not guessed at.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from jsonschema_rs import ValidationError

from . import schemas

MOST_ROUNDS = 4
"""A list given as text may hold numbers given as text, and so on."""
MOST_CHANGES = 64
FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL | re.IGNORECASE)
_MISSING = object()
_TYPES: dict[type, tuple[str, ...]] = {
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    type(None): ("null",),
    list: ("array",),
    dict: ("object",),
}


def mended(text: str, schema: Mapping[str, Any]) -> tuple[str, str] | None:
    """The JSON text that satisfies the schema, and where it was changed; None when it cannot be told."""
    try:
        value = json.loads(text, parse_constant=schemas.no_constant)
        places: list[str] = []
        for _ in range(MOST_ROUNDS):
            errors = list(islice(schemas.errors_of(value, schema), MOST_CHANGES))
            if not errors:
                break
            for error in errors:
                value = _changed(value, error)
                places.append("".join(f"[{step!r}]" for step in error.instance_path))
        result = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError, _Ambiguous):
        return None
    return (result, ", ".join(places)) if places and schemas.value_violation(value, schema) is None else None


def unfenced(text: str) -> str | None:
    """The inside of an answer that is one fenced block; None for any other."""
    match = FENCED.fullmatch(text)
    return match[1] if match and "```" not in match[1] else None


class _Ambiguous(Exception):
    """There is more than one reading, or none."""


def _changed(value: Any, error: ValidationError) -> Any:
    """The value with the string that an error is about read as JSON."""
    types = set(_types_wanted(error, error.instance_path))
    text = error.instance
    if not isinstance(text, str) or not types or "string" in types:
        raise _Ambiguous
    found = _read(text, types)
    if found is _MISSING:
        raise _Ambiguous
    return _with(value, error.instance_path, found)


def _types_wanted(error: ValidationError, place: Sequence[Any]) -> Iterator[str]:
    """The types that the schema takes where the error is; all its alternatives must be about nothing but the type."""
    facts = error.kind.as_dict()
    if list(error.instance_path) != list(place):
        raise _Ambiguous
    if "types" in facts:
        yield from facts["types"]
    elif facts.get("context"):
        for branch in facts["context"]:
            if len(branch) != 1:
                raise _Ambiguous
            yield from _types_wanted(branch[0], place)
    else:
        raise _Ambiguous


def _read(text: str, types: set[str]) -> Any:
    """The value of one of these types that the text is, written as JSON writes it."""
    try:
        found = json.loads(text, parse_constant=schemas.no_constant)
    except ValueError:
        return _MISSING
    plain = isinstance(found, list | dict) or json.dumps(found) == text
    return found if plain and types & set(_TYPES.get(type(found), ())) else _MISSING


def _with(value: Any, path: Sequence[Any], new: Any) -> Any:
    """A copy of a JSON value with another one in this place."""
    if not path:
        return new
    step, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[step] = _with(copy[step], rest, new)
    return copy
