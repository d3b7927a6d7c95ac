"""JSON Schemas as llguidance reads them: what it would take wrongly is said otherwise, or left to the check behind decoding."""

from collections.abc import Mapping
from typing import Any

from .finite import without_endless
from .formats import FORMATS, UNSAID
from .merging import DEFINITIONS, Merger, dumped, types_of
from .regexes import Chars, Choice, Regex, Repeated, Row, UnreadableRegex, whole

OPTIONS = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "coerce_one_of": True,
    "lenient": True,
}
"""The spacing of `json.dumps`; alternatives need not exclude each other; keywords it does not know are left to later checks."""
MOST_ITEMS = 200
"""llguidance builds a state for each item of an array that it counts: a thousand million of them end the whole process."""
LARGEST = 9 * 10**18 - 1024
"""The largest integer that is written where a schema sets no limit: the last double below the largest of 64 bits."""
MOST = 1e15
"""The largest number that is written where a schema sets no limit, and where exponents cannot be bounded."""
LARGEST_EXACT = 2**53 - 1
"""Integers beyond it are compared as doubles."""
MOST_JOINED = 100
"""So many schemas are joined in one; others are left as llguidance joins them."""
_COUNTS = ("minItems", "maxItems")
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_VALUES = ("const", "enum", "default", "examples")
_MAPS = ("properties", "patternProperties", "$defs", "definitions")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "additionalItems")


def schema_for_llguidance(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with our spacing, whose objects hold nothing but what they declare unless they say so."""
    return {**readable(without_endless(schema, schema)), "x-guidance": OPTIONS}


def is_held(key: str, value: Any) -> bool:
    """Whether llguidance can hold this keyword of a schema."""
    if key in _COUNTS:
        return not isinstance(value, int | float) or value <= MOST_ITEMS
    if key in _LIMITS:
        return not isinstance(value, int) or abs(value) <= LARGEST_EXACT
    if key == "pattern":
        return _is_plain(value)
    return not (key == "format" and isinstance(value, str) and value in UNSAID)


def _is_plain(pattern: Any) -> bool:
    """Whether a pattern can be read, and names no character that JSON escapes."""
    try:
        return isinstance(pattern, str) and not _names_escaped(whole(pattern))
    except UnreadableRegex:
        return False


def _names_escaped(node: Regex) -> bool:
    match node:
        case Chars(ranges):
            return len(ranges) == 1 and ranges[0][0] == ranges[0][1] and chr(ranges[0][0]) in '"\\\n\t\r\f\b'
        case Row(parts) | Choice(parts):
            return any(map(_names_escaped, parts))
        case Repeated(part, _, _):
            return _names_escaped(part)


def readable(schema: Any) -> Any:
    """A schema in the words that llguidance holds, with `additionalProperties: false` wherever it declares properties and says
    nothing of others."""
    return _Reader(schema).whole() if isinstance(schema, Mapping) else schema


class _Reader:
    """Reads one schema. What is joined of parts becomes a definition, since it may lead to itself."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._names: dict[str, str] = {}
        self._definitions: dict[str, Any] = {}

    def whole(self) -> dict[str, Any]:
        result = self._body(self._joined(self._root))
        if self._definitions:
            result["$defs"] = {**result.get("$defs", {}), **self._definitions}
        return result

    def _part(self, schema: Any) -> Any:
        if not isinstance(schema, Mapping):
            return schema
        text = dumped(schema)
        if text not in self._names:
            joined = self._joined(schema)
            if joined.get("enum") == []:
                return False  # an optional property that can have no value is left out, not an error
            if joined is schema or len(self._names) == MOST_JOINED:
                return self._body(schema)
            name = self._names[text] = f"joined_{len(self._names)}"
            self._definitions[name] = self._body(joined)
        return {"$ref": f"#/$defs/{self._names[text]}"}

    def _joined(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema as one, where its parts can be joined: closed one by one, none of them would take what another declares."""
        merger = Merger(self._root)
        found = merger.merged(schema, ())
        if merger.left or found is schema:
            return schema
        return {**{key: schema[key] for key in DEFINITIONS if key in schema}, **found}

    def _body(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        result = {key: self._below(key, value) for key, value in schema.items() if is_held(key, value)}
        _close(schema, result)
        _bound(result)
        form = result.pop("format", None)
        if isinstance(form, str) and form in FORMATS:
            pattern = f"^(?:{FORMATS[form]})$"
            if "pattern" not in result:
                result["pattern"] = pattern
            elif _only_string(schema):
                result["allOf"] = [*(result.get("allOf") or ()), {"type": "string", "pattern": pattern}]
        return result

    def _below(self, key: str, value: Any) -> Any:
        if key in _MAPS and isinstance(value, Mapping):
            return {name: self._part(child) for name, child in value.items()}
        if key in (*_LISTS, "items") and isinstance(value, list):
            return [self._part(child) for child in value]
        return self._part(value) if key in _SINGLE else value


def _only_string(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string" or ("type" not in schema and types_of(schema) == ("string",))


def _close(schema: Mapping[str, Any], result: dict[str, Any]) -> None:
    """What an object requires is declared with it: llguidance refuses a required key that may not be."""
    open_ended = {"additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "$ref"}
    if "properties" not in schema or open_ended & set(schema):
        return
    result["additionalProperties"] = False
    if isinstance(result["properties"], dict) and isinstance(schema.get("required"), list):
        missing = [key for key in schema["required"] if isinstance(key, str) and key not in result["properties"]]
        result["properties"].update({key: {} for key in missing})


def _bound(result: dict[str, Any]) -> None:
    """Numbers have no end of digits, and no exponent that no double holds."""
    said = result.get("type")
    names = {said} if isinstance(said, str) else set(said) if isinstance(said, list) else set()
    limit: float = LARGEST if "integer" in names else MOST if "number" in names else 0
    if not limit or "const" in result or "enum" in result:
        return
    low, high = result.get("exclusiveMinimum"), result.get("exclusiveMaximum")
    if "minimum" not in result and (not _is_number(low)):
        result["minimum"] = min(-limit, result.get("maximum", 0))
    if "maximum" not in result and (not _is_number(high)):
        result["maximum"] = max(limit, result.get("minimum", 0))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
