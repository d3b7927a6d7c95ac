"""Schemas whose parts hold together, as one: `allOf`, what stands beside a reference, alternatives beside other keywords."""

import json
import math
from collections.abc import Mapping
from typing import Any

from ..schema import resolve

Path = tuple[str | int, ...]
Node = Mapping[str, Any]
NOTES = frozenset(
    "title description default examples deprecated readOnly writeOnly $comment $schema $id $anchor strict nullable".split()
)
DEFINITIONS = frozenset({"$defs", "definitions"})
MOST_JOINED, DEEPEST, MOST_WAYS = 500, 60, 60
"""How many branches are joined in one schema, how deep (in steps of a path), and how many alternatives may come of two lists."""
NEVER: dict[str, Any] = {"enum": []}
"""The schema that nothing satisfies."""
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
KEYWORDS = {
    "string": ("pattern", "format", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
    "object": (
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "minProperties",
        "maxProperties",
        "propertyNames",
    ),
}
_LARGER = frozenset("minimum exclusiveMinimum minLength minItems minProperties minContains".split())
_SMALLER = frozenset("maximum exclusiveMaximum maxLength maxItems maxProperties maxContains".split())


class Never(Exception):
    """No value satisfies a schema; the text says why, and `path` where."""

    def __init__(self, reason: str, path: Path) -> None:
        super().__init__(reason)
        self.path = path


class Merger:
    """Joins the parts of one schema, and keeps the places of what cannot be joined."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._joined = 0
        self.left: list[Path] = []

    def merged(self, node: Node, path: Path) -> Node:
        """The schema without `allOf`, and with nothing beside a reference or alternatives."""
        beside = set(node) - NOTES - DEFINITIONS
        if "$ref" in node and len(beside) > 1:
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return self.merged(self.union(rest, self._resolved({"$ref": node["$ref"]}, (*path, "$ref")), path), path)
        if isinstance(node.get("allOf"), list):
            joined: Node = {key: value for key, value in node.items() if key != "allOf"}
            for at, branch in enumerate(node["allOf"]):
                joined = self.union(joined, self._resolved(branch, (*path, "allOf", at)), (*path, "allOf", at))
            return self.merged(joined, path)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(node.get(keyword), list) and len(beside) > 1:
                return self._distributed(node, keyword, path)
        return node

    def _distributed(self, node: Node, keyword: str, path: Path) -> Node:
        rest = {key: value for key, value in node.items() if key != keyword and key not in DEFINITIONS}
        places = [(*path, keyword, at) for at in range(len(node[keyword]))]
        return {keyword: [self.union(rest, self._resolved(each, at), at) for each, at in zip(node[keyword], places, strict=True)]}

    def _resolved(self, node: Any, path: Path) -> Node:
        """What a branch says. A schema that joins itself in would grow without end: from some point on branches are left out."""
        self._joined += 1
        if self._joined > MOST_JOINED or len(path) > DEEPEST:
            self.left.append(path)
            return {}
        if node is False:
            return NEVER
        if isinstance(node, Mapping) and "$ref" in node:
            if set(node) - NOTES - DEFINITIONS != {"$ref"}:
                return self.merged(node, path)
            target = resolve({"$ref": node["$ref"]}, self._root)
            return NEVER if target is False else target if isinstance(target, Mapping) else {}
        return node if isinstance(node, Mapping) else {}

    def union(self, one: Node, other: Node, path: Path) -> Node:
        """A schema for what both allow. Where both say something that cannot be joined, the first is kept and the place noted."""
        if "$ref" in one or "$ref" in other:
            one, other = self._resolved(one, path), self._resolved(other, path)
        result = dict(one)
        for key, value in other.items():
            if key in NOTES or key in DEFINITIONS or result.get(key) == value:
                result.setdefault(key, value)
            elif key not in result and key not in ("properties", "additionalProperties"):
                result[key] = value
            elif not self._join(result, key, value, (one, other), path):
                self.left.append((*path, key))
        return NEVER if result.get("type") == [] or result.get("enum") == [] else result

    def _join(self, result: dict[str, Any], key: str, value: Any, sides: tuple[Node, Node], path: Path) -> bool:
        """Put what both sides say in the result; whether it can be said."""
        have = result.get(key)
        if key in ("properties", "additionalProperties"):
            self._objects(result, sides, path)
        elif key in _LARGER | _SMALLER and _number(have) and _number(value):
            result[key] = max(have, value) if key in _LARGER else min(have, value)
        elif key == "type":
            result[key] = _types_of_both(have, value)
        elif key == "items" and isinstance(have, Mapping) and isinstance(value, Mapping):
            result[key] = self.union(have, value, (*path, key))
        elif key == "multipleOf" and isinstance(have, int) and isinstance(value, int):
            result[key] = math.lcm(have, value)
        elif key == "anyOf" and isinstance(have, list) and isinstance(value, list) and len(have) * len(value) <= MOST_WAYS:
            result[key] = [
                self.union(self._resolved(a, path), self._resolved(b, path), (*path, key)) for a in have for b in value
            ]
        else:
            return self._join_lists(result, key, have, value)
        return True

    def _join_lists(self, result: dict[str, Any], key: str, have: Any, value: Any) -> bool:
        both_lists = isinstance(have, list) and isinstance(value, list)
        if key == "enum" and both_lists:
            allowed = {_text(each) for each in value}
            result[key] = [each for each in have if _text(each) in allowed]
        elif key == "required" and both_lists:
            result[key] = list(dict.fromkeys((*have, *value)))
        elif key == "const":
            result["enum"] = []
        elif key == "uniqueItems":
            result[key] = bool(have or value)
        else:
            return False
        return True

    def _objects(self, result: dict[str, Any], sides: tuple[Node, Node], path: Path) -> None:
        """Properties of both; what one side does not declare is to it an additional one."""
        one, other = (properties_of(side) for side in sides)
        joined: dict[str, Any] = {}
        for name in dict.fromkeys((*one, *other)):
            first = one[name] if name in one else _others(sides[0])
            second = other[name] if name in other else _others(sides[1])
            joined[name] = self._part(first, second, (*path, "properties", name))
        if joined or "properties" in result:
            result["properties"] = joined
        if any("additionalProperties" in side for side in sides):
            first, second = (side.get("additionalProperties", True) for side in sides)
            result["additionalProperties"] = self._part(first, second, (*path, "additionalProperties"))
            if any("patternProperties" in side and other is not True for side, other in zip(sides, (second, first), strict=True)):
                self.left.append((*path, "additionalProperties"))  # it is also about the names that the patterns fit

    def _part(self, one: Any, other: Any, path: Path) -> Any:
        if one is False or other is False:
            return False
        if not isinstance(one, Mapping) or not isinstance(other, Mapping) or one == other:
            return one if isinstance(one, Mapping) else other
        return self.union(one, other, path)


def properties_of(node: Node) -> Node:
    """The properties that an object declares."""
    found = node.get("properties")
    return found if isinstance(found, Mapping) else {}


def _others(side: Node) -> Any:
    """What an object says of properties that it does not declare, where it says something by itself."""
    return True if "patternProperties" in side else side.get("additionalProperties", True)


def listed(node: Node) -> list[Any] | None:
    """The values that a schema lists, without those of another type; None when it lists none."""
    if "const" in node:
        values = [node["const"]]
    elif isinstance(node.get("enum"), list):
        values = node["enum"]
    else:
        return None
    if "const" in node and isinstance(node.get("enum"), list):
        allowed = {_text(value) for value in node["enum"]}
        values = [value for value in values if _text(value) in allowed]
    said = node.get("type")
    kinds = {said} if isinstance(said, str) else set(said) if isinstance(said, list) else None
    return [value for value in values if kinds is None or kind_of(value) & kinds]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def kind_of(value: Any) -> set[str]:
    """The JSON types that a value has."""
    match value:
        case None:
            return {"null"}
        case bool():
            return {"boolean"}
        case int():
            return {"integer", "number"}
        case float():
            return {"number", "integer"} if value.is_integer() else {"number"}
        case str():
            return {"string"}
        case list():
            return {"array"}
        case _:
            return {"object"}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _types_of_both(one: Any, other: Any) -> Any:
    first, second = ([each] if isinstance(each, str) else list(each) for each in (one, other))
    both = [kind for kind in first if kind in second or (kind == "integer" and "number" in second)]
    both += [kind for kind in second if kind == "integer" and "number" in first and kind not in both]
    return both[0] if len(both) == 1 else both


def dumped(value: Any) -> str:
    """A value as JSON, its characters as they are; escaped where they are halves of one."""
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if any(0xD800 <= ord(each) <= 0xDFFF for each in text) else text


def types_of(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that a schema names, else those that its keywords are about, else all."""
    said = node.get("type")
    if isinstance(said, str | list):
        names = [said] if isinstance(said, str) else said
        return tuple(name for name in dict.fromkeys(names) if name in TYPES and not (name == "integer" and "number" in names))
    found = tuple(kind for kind, keywords in KEYWORDS.items() if any(keyword in node for keyword in keywords))
    return found or tuple(kind for kind in TYPES if kind != "integer")
