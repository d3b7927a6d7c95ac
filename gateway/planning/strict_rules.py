"""The rules that OpenAI's Structured Outputs lay on a schema, in their order, with their words.

A path is written as OpenAI writes it: a tuple of strings, positions in a list included. References are not followed: what they
point to is looked at once, where it stands. Source: the Structured Outputs guide, and the errors its users report.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

Path = tuple[str, ...]
Node = Mapping[str, Any]

TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
COMBINATORS = ("anyOf", "oneOf", "allOf", "enum", "not")
FORBIDDEN = frozenset(
    "oneOf allOf not if then else dependentRequired dependentSchemas dependencies patternProperties propertyNames minProperties "
    "maxProperties unevaluatedProperties unevaluatedItems prefixItems additionalItems uniqueItems contains minContains "
    "maxContains contentEncoding contentMediaType contentSchema $anchor $dynamicAnchor $dynamicRef $recursiveAnchor "
    "$recursiveRef".split()
)
DEFINITIONS = ("$defs", "definitions")

MOST_PROPERTIES = 5_000
MOST_LEVELS = 10
MOST_CHARACTERS = 120_000
MOST_ENUM_VALUES = 1_000
LONG_ENUM, MOST_LONG_ENUM_CHARACTERS = 250, 15_000


def broken_rule(schema: Node) -> str | None:
    """The first rule of strict schemas that this one breaks."""
    return broken_root_rule(schema) or _broken_node_rule(schema) or _Totals.of(schema).exceeded()


def broken_plain_rule(schema: Node) -> str | None:
    """The first of the rules that schemas of functions are held to even when they are not strict."""
    return broken_root_rule(schema) or next(filter(None, map(_itemless, nodes(schema))), None)


def broken_root_rule(schema: Node) -> str | None:
    """Arguments and answers are objects, and nothing else beside."""
    if schema.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
    if any(key in schema for key in COMBINATORS):
        return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
    return None


def nodes(root: Any) -> Iterator[tuple[Path, Any]]:
    """Every schema inside with its path: a schema before its parts, its definitions last. Without recursion: clients write it."""
    waiting: list[tuple[Path, Any]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        if isinstance(node, Mapping):
            waiting.extend(reversed([((*path, *step), child) for step, child in _parts(node)]))


def _parts(node: Node) -> Iterator[tuple[Path, Any]]:
    yield from _named(node, ("properties", "patternProperties"))
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), Mapping) or (key == "items" and isinstance(node.get(key), bool)):
            yield (key,), node[key]
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        branches = node.get(key)
        if isinstance(branches, list | tuple):
            yield from (((key, str(at)), branch) for at, branch in enumerate(branches))
    yield from _named(node, DEFINITIONS)


def _named(node: Node, keys: tuple[str, ...]) -> Iterator[tuple[Path, Any]]:
    for key in keys:
        group = node.get(key)
        if isinstance(group, Mapping):
            yield from (((key, name), child) for name, child in group.items())


def _itemless(place: tuple[Path, Any]) -> str | None:
    path, node = place
    if isinstance(node, Mapping) and "array" in types(node) and "items" not in node and "prefixItems" not in node:
        return f"In context={path}, array schema missing items."
    return None


def types(node: Node) -> tuple[Any, ...]:
    """What `type` says, as several."""
    said = node.get("type", ())
    return tuple(said) if isinstance(said, list | tuple) else (said,)


def _broken_node_rule(root: Node) -> str | None:
    for path, node in nodes(root):
        if not isinstance(node, Mapping):
            return f"In context={path}, schema must have a 'type' key."
        if "$ref" in node and len(node) > 1:
            beside = ", ".join(repr(key) for key in node if key != "$ref")
            return f"context={path}, $ref cannot have keywords {{{beside}}}."
        for rule in RULES:
            if problem := rule(node, root):
                return f"In context={path}, {problem}"
    return None


def _no_forbidden_keyword(node: Node, root: Node) -> str | None:
    return next((f"'{key}' is not permitted." for key in node if key in FORBIDDEN), None)


def _reference_resolves(node: Node, root: Node) -> str | None:
    if "$ref" not in node or node["$ref"] == "#":
        return None
    target = node["$ref"]
    place = re.fullmatch(r"#/(\$defs|definitions)/([^/]+)", target) if isinstance(target, str) else None
    if place is None:
        return f"reference can only point to definitions defined at the top level of the schema, got '{target}'."
    group = root.get(place[1])
    name = unquote(place[2]).replace("~1", "/").replace("~0", "~")
    if not isinstance(group, Mapping) or name not in group:
        return f"reference to component '{target}' which was not found in the schema."
    return None


def _is_typed(node: Node, root: Node) -> str | None:
    if "type" not in node:
        return None if "anyOf" in node or "$ref" in node else "schema must have a 'type' key."
    said = types(node)
    if not said or any(not isinstance(each, str) or each not in TYPES for each in said):
        return f"{node['type']!r} is not valid under any of the given schemas."
    return None


def _enum_is_of_one_type(node: Node, root: Node) -> str | None:
    if "enum" not in node:
        return None
    values = node["enum"]
    if not isinstance(values, list | tuple) or not values:
        return "enum must be a non-empty array."
    if len({_kind(value) for value in values if value is not None}) > 1:
        return "enum values must be of the same type."
    length = sum(len(value) for value in values if isinstance(value, str))
    if len(values) > LONG_ENUM and length > MOST_LONG_ENUM_CHARACTERS:
        found = f"enum with {len(values)} values has total string length {length}"
        return f"{found}, exceeds limit of {MOST_LONG_ENUM_CHARACTERS}."
    return None


def _kind(value: Any) -> type:
    """Integers are numbers, booleans are not."""
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _object_is_closed(node: Node, root: Node) -> str | None:
    if "object" not in types(node):
        return None
    properties = node.get("properties")
    if not isinstance(properties, Mapping):
        return "object schema missing properties."
    if node.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    said = node.get("required", ())
    required = said if isinstance(said, list | tuple) else ()
    problem = "'required' is required to be supplied and to be an array including every key in properties."
    if (missing := next((key for key in properties if key not in required), None)) is not None:
        return f"{problem} Missing '{missing}'."
    if (extra := next((key for key in required if not isinstance(key, str) or key not in properties), None)) is not None:
        return f"{problem} Extra required key '{extra}' supplied."
    return None


def _array_has_items(node: Node, root: Node) -> str | None:
    if "array" not in types(node):
        return None
    if "items" not in node:
        return "array schema missing items."
    return "'items' must be a schema, not an array." if isinstance(node["items"], list | tuple) else None


def _pattern_is_plain(node: Node, root: Node) -> str | None:
    pattern = node.get("pattern")
    if pattern is None:
        return None
    try:
        re.compile(pattern)
    except (re.error, TypeError, OverflowError, RecursionError):
        return f"'{pattern}' is not a 'regex'."
    bare = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "", pattern, flags=re.DOTALL)
    return "pattern lookaround is not permitted." if re.search(r"\(\?<?[=!]", bare) else None


def _format_is_known(node: Node, root: Node) -> str | None:
    said = node.get("format")
    known = said is None or (isinstance(said, str) and said in FORMATS)
    return None if known else f"'{said}' is not a valid format."


RULES: tuple[Callable[[Node, Node], str | None], ...] = (
    _no_forbidden_keyword,
    _reference_resolves,
    _is_typed,
    _enum_is_of_one_type,
    _object_is_closed,
    _array_has_items,
    _pattern_is_plain,
    _format_is_known,
)
"""Rules for each schema inside, in the order in which they are looked at."""


@dataclass(slots=True)
class _Totals:
    """What is counted over a whole schema."""

    levels: int = 0
    sizes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("properties", "characters", "values"), 0))

    @classmethod
    def of(cls, root: Node) -> "_Totals":
        totals = cls()
        levels: dict[Path, int] = {}
        for path, node in nodes(root):
            above = next((levels[path[:cut]] for cut in range(len(path) - 1, -1, -1) if path[:cut] in levels), 0)
            levels[path] = above + ("object" in types(node))
            totals.levels = max(totals.levels, levels[path])
            totals._count(node)
        return totals

    def _count(self, node: Node) -> None:
        groups = {key: node[key] for key in ("properties", *DEFINITIONS) if isinstance(node.get(key), Mapping)}
        values = [*node.get("enum", ()), *([node["const"]] if "const" in node else ())]
        names = [name for group in groups.values() for name in group]
        self.sizes["properties"] += len(groups.get("properties", ()))
        self.sizes["values"] += len(node.get("enum", ()))
        self.sizes["characters"] += sum(len(text) for text in (*names, *values) if isinstance(text, str))

    def exceeded(self) -> str | None:
        """The first limit that is passed."""
        if self.sizes["properties"] > MOST_PROPERTIES:
            return f"{self.sizes['properties']} parameters exceeds limit of {MOST_PROPERTIES}."
        if self.levels > MOST_LEVELS:
            return f"{MOST_LEVELS + 1} levels of nesting exceeds limit of {MOST_LEVELS}."
        if self.sizes["characters"] > MOST_CHARACTERS:
            return f"total length of names and values {self.sizes['characters']} exceeds limit of {MOST_CHARACTERS}."
        if self.sizes["values"] > MOST_ENUM_VALUES:
            return f"{self.sizes['values']} enum values exceeds limit of {MOST_ENUM_VALUES}."
        return None
