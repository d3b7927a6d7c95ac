"""Schemas for llguidance whose values, written as JSON, hold none of some texts: those that would end the value around them.

Its strings are told by patterns of what they mean, so that no escape spells such a text either.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .avoiding import telling
from .merging import DEFINITIONS, KEYWORDS, NOTES, TYPES, dumped, listed
from .regexes import Chars, Choice, Regex, Repeated, Row, UnreadableRegex, narrowed, whole

ANYTHING = "anything_apart"
"""The definition of a value that no schema describes."""
_MAPS = ("properties", "$defs", "definitions")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalItems")
_PATTERNS = frozenset({"pattern", "format"})
_OPEN = frozenset("additionalProperties unevaluatedProperties allOf anyOf oneOf".split())


def excluding(schema: Mapping[str, Any], texts: tuple[str, ...]) -> Mapping[str, Any]:
    """The schema for values that hold none of these texts, each of one or two characters."""
    return _Writer(texts).whole(schema) if texts else schema


class Apart:
    """Patterns for what holds none of some texts. Two characters that begin some of them do not stand side by side."""

    def __init__(self, texts: Iterable[str]) -> None:
        behind: dict[str, set[str]] = {}
        for text in texts:
            behind.setdefault(text[0], set()).update(text[1:] or ("",))
        self._first = set(behind)
        begun = {letter: others for letter, others in behind.items() if "" not in others}
        self._begun = [f"{_times(letter, others)}[^{_class((*behind, *others))}]" for letter, others in begun.items()]
        self._ends = [_times(letter, others) for letter, others in begun.items()]
        self._rest = f"(?:{'|'.join((f'[^{_class(behind)}]', *self._begun))})*(?:{'|'.join((*self._ends, ''))})"

    def anything(self) -> str:
        """Any such text."""
        return f"^{self._rest}$"

    def unlike(self, names: Iterable[str]) -> str:
        """Any but these names."""
        taken = set(names)
        ways: list[str] = []
        for head in sorted({name[:size] for name in taken for size in range(len(name) + 1)}):
            if self._first & set(head):
                continue
            letters = {name[len(head)] for name in taken if name.startswith(head) and name != head}
            ways += [] if head in taken else [re.escape(head)]
            ways += [f"{re.escape(head)}{begun}{self._rest}" for begun in (f"[^{_class(letters | self._first)}]", *self._begun)]
            ways += [f"{re.escape(head)}{end}" for end in self._ends]
        return f"^(?:{'|'.join(ways)})$"


def _times(letter: str, behind: set[str]) -> str:
    """A letter that begins a text, as often as it may stand."""
    return re.escape(letter) + ("" if letter in behind else "+")


def _class(letters: Iterable[str]) -> str:
    return "".join(re.escape(letter) for letter in sorted(set(letters)))


class _Writer:
    """Rewrites one schema."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._texts = texts
        self._apart = Apart(texts)
        self._pattern = self._apart.anything()
        self._anything = {"$ref": f"#/$defs/{ANYTHING}"}

    def whole(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        found = self._value(schema)
        definitions = {**found.get("$defs", {}), ANYTHING: self._any()}
        return {**found, "$defs": definitions}

    def _any(self) -> dict[str, Any]:
        mapping = {"type": "object", "patternProperties": {self._pattern: self._anything}, "additionalProperties": False}
        text = {"type": "string", "pattern": self._pattern}
        simple = ({"type": name} for name in ("number", "boolean", "null"))
        return {"anyOf": [text, *simple, {"type": "array", "items": self._anything}, mapping]}

    def _value(self, node: Any) -> Any:
        if node is False:
            return False
        if not isinstance(node, Mapping) or not set(node) - NOTES - DEFINITIONS:
            kept = {key: self._inside(key, node[key]) for key in DEFINITIONS & set(node)} if isinstance(node, Mapping) else {}
            return {**self._anything, **kept}
        found = {key: self._inside(key, value) for key, value in node.items()}
        values = listed(node)
        if values is not None:
            found.pop("const", None)
            return {**found, "enum": [value for value in values if not any(text in dumped(value) for text in self._texts)]}
        if "$ref" in node or ("type" not in node and set(node) & {"anyOf", "oneOf", "allOf"}):
            return found
        kinds = _kinds(node)
        if _PATTERNS & set(node) and "string" in kinds and len(kinds) > 1:
            return self._apart_from_strings(node, kinds - {"string"})
        self._close(node, kinds, found)
        return found

    def _apart_from_strings(self, node: Mapping[str, Any], others: set[str]) -> dict[str, Any]:
        """Strings by themselves: llguidance joins a second pattern only to what is nothing but a string."""
        rest = {key: value for key, value in node.items() if key not in KEYWORDS["string"] and key not in DEFINITIONS}
        text = {key: value for key, value in node.items() if key not in DEFINITIONS}
        ways = [self._value({**text, "type": "string"}), self._value({**rest, "type": sorted(others)})]
        return {**{key: self._inside(key, node[key]) for key in DEFINITIONS & set(node)}, "anyOf": ways}

    def _inside(self, key: str, value: Any) -> Any:
        if key in _MAPS and isinstance(value, Mapping):
            return {name: self._value(child) for name, child in value.items()}
        if key in (*_LISTS, "items") and isinstance(value, list):
            return [self._value(child) for child in value]
        return self._value(value) if key in _SINGLE else value

    def _close(self, node: Mapping[str, Any], kinds: set[str], found: dict[str, Any]) -> None:
        """Say of each type that a value may have what it must not hold."""
        if _PATTERNS & set(node) and "string" in kinds:
            found["allOf"] = [*found.get("allOf", ()), {"type": "string", "pattern": self._pattern}]
        elif "string" in kinds:
            found["pattern"] = self._pattern
        if "array" in kinds:
            found.setdefault("items", self._anything)
        if "object" in kinds:
            self._close_object(node, found)

    def _close_object(self, node: Mapping[str, Any], found: dict[str, Any]) -> None:
        properties, others = node.get("properties"), node.get("additionalProperties", True)
        if isinstance(properties, Mapping):
            missing = [key for key in node.get("required") or () if isinstance(key, str) and key not in properties]
            found["properties"] = {**found["properties"], **{key: self._value(others) for key in missing}}
        patterns = node.get("patternProperties")
        if isinstance(patterns, Mapping) and patterns:
            found["patternProperties"] = dict(self._narrowed(patterns))
        elif others is not False and (not isinstance(properties, Mapping) or _OPEN & set(node)):
            keys = self._apart.unlike(found["properties"]) if isinstance(properties, Mapping) else self._pattern
            found["patternProperties"] = {keys: self._value(others)}
        found["additionalProperties"] = False

    def _narrowed(self, patterns: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
        """Keys of patterns, without characters that every text has one of."""
        for pattern, child in patterns.items():
            try:
                yield f"^{expression(narrowed(whole(pattern), telling(self._texts)))}$", self._value(child)
            except UnreadableRegex:
                continue


def _kinds(node: Mapping[str, Any]) -> set[str]:
    said = node.get("type")
    return {said} if isinstance(said, str) else set(said) if isinstance(said, list) else set(TYPES) - {"integer"}


def expression(node: Regex) -> str:
    """A tree as a regular expression."""
    match node:
        case Chars(ranges):
            return f"[{''.join(map(_range, ranges))}]"
        case Row(parts):
            return "".join(map(expression, parts))
        case Choice(ways):
            return f"(?:{'|'.join(map(expression, ways))})"
        case Repeated(part, least, most):
            return f"(?:{expression(part)}){{{least},{'' if most is None else most}}}"


def _range(ends: tuple[int, int]) -> str:
    low, high = (re.escape(chr(end)) for end in ends)
    return low if low == high else f"{low}-{high}"
