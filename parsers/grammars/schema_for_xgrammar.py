"""JSON Schemas as xgrammar reads them: what it would take wrongly is said otherwise, or left to the check behind decoding.

xgrammar 0.2.8 takes every pattern as anchored and matches it against the raw JSON text, ignores several `allOf` (and then accepts
anything) and the alternatives beside `properties`, and forgets required keys that `properties` does not declare.
"""

import re
from collections.abc import Mapping
from typing import Any

from ..schema import JSON_TYPES, resolve, types_of

Path = tuple[str | int, ...]
UNREAD = frozenset(
    "not if then else dependentRequired dependentSchemas dependencies contains minContains maxContains uniqueItems".split()
)
"""Keywords that say nothing to xgrammar."""
FORMATS = frozenset(
    "date time date-time duration email hostname ipv4 ipv6 uri uri-reference uri-template uuid json-pointer"
    " relative-json-pointer".split()
)
NOTES = frozenset("title description default examples deprecated readOnly writeOnly $comment $schema $id strict".split())
MOST_JOINED, DEEPEST = 500, 60
"""How many branches are joined in one schema, and how deep (in steps of a path)."""
_MAPS = ("properties", "$defs", "definitions")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "propertyNames", "unevaluatedProperties")
_OBJECT = frozenset({"properties", "required", "additionalProperties"})
_LENGTHS = ("minLength", "maxLength")


def schema_for_xgrammar(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as it goes into a tag. It allows at least what this allows that xgrammar can say."""
    return _Rewriter(schema).schema(schema, ())


def unenforced(schema: Mapping[str, Any]) -> list[str]:
    """The places (`properties.tags.uniqueItems`) whose keywords do not hold while decoding, only in the check behind it."""
    rewriter = _Rewriter(schema)
    rewriter.schema(schema, ())
    return [".".join(map(str, path)) for path in dict.fromkeys(rewriter.left)]


class _Rewriter:
    """Rewrites the parts of one schema, and keeps the places of what is left out."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self.left: list[Path] = []
        self._joined = 0

    def schema(self, node: Mapping[str, Any], path: Path) -> dict[str, Any]:
        """One schema that is an object."""
        node = self._combined(node, path)
        result: dict[str, Any] = {}
        for key, value in node.items():
            if key in UNREAD or key in NOTES:
                if key in UNREAD and value is not False:
                    self.left.append((*path, key))
            else:
                result[key] = self._keyword(key, value, (*path, key))
        self._strings(result, path)
        self._objects(result, path)
        self._enumerated(result)
        if isinstance(result.get("multipleOf"), float) and not result["multipleOf"].is_integer():
            self._leave(result, "multipleOf", path)
        if isinstance(result.get("oneOf"), list) and not self._exclusive(result["oneOf"]):
            result["anyOf"] = result.pop("oneOf")
            self.left.append((*path, "oneOf"))
        return result

    def _exclusive(self, branches: list[Any]) -> bool:
        """Whether at most one of the branches can hold, as far as their types tell."""
        kinds = [{"number" if name == "integer" else name for name in types_of(each, self._root)} for each in branches]
        return all(kinds) and sum(map(len, kinds)) == len(set().union(*kinds))

    def _keyword(self, key: str, value: Any, path: Path) -> Any:
        if key in _MAPS and isinstance(value, Mapping):
            return {name: self._part(child, (*path, name)) for name, child in value.items() if child is not False}
        if key == "patternProperties" and isinstance(value, Mapping):
            return self._pattern_properties(value, path)
        if key in _LISTS and isinstance(value, list):
            return [self._part(child, (*path, at)) for at, child in enumerate(value)]
        return self._part(value, path) if key in _SINGLE else value

    def _part(self, node: Any, path: Path) -> Any:
        return self.schema(node, path) if isinstance(node, Mapping) else node

    def _leave(self, node: dict[str, Any], keyword: str, path: Path) -> None:
        if node.pop(keyword, None) is not None:
            self.left.append((*path, keyword))

    # ---- combinations
    def _combined(self, node: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
        """Without several `allOf`, and without alternatives beside an object's own keywords."""
        whole = node.get("allOf")
        if isinstance(whole, list) and (len(whole) > 1 or set(node) - NOTES - {"allOf", "$defs", "definitions"}):
            merged: Mapping[str, Any] = {key: value for key, value in node.items() if key != "allOf"}
            for at, branch in enumerate(whole):
                merged = self._union(merged, self._resolved(branch, (*path, "allOf", at)), (*path, "allOf", at))
            return self._combined(merged, path) if "allOf" not in merged else merged
        for keyword in ("anyOf", "oneOf"):
            branches = node.get(keyword)
            if isinstance(branches, list) and _OBJECT & set(node):
                rest = {key: value for key, value in node.items() if key not in (keyword, "$defs", "definitions")}
                shared = {key: node[key] for key in ("$defs", "definitions") if key in node}
                ways = [
                    self._union(rest, self._resolved(each, (*path, keyword, at)), (*path, keyword, at))
                    for at, each in enumerate(branches)
                ]
                return {"anyOf": ways, **shared}
        return node

    def _resolved(self, node: Any, path: Path) -> Mapping[str, Any]:
        """What a branch says. A schema that joins itself in would grow without end: from some point on branches are left out."""
        self._joined += 1
        if self._joined > MOST_JOINED or len(path) > DEEPEST:
            self.left.append(path)
            return {}
        found = resolve(node, self._root)
        return found if isinstance(found, Mapping) else {}

    def _union(self, one: Mapping[str, Any], other: Mapping[str, Any], path: Path) -> dict[str, Any]:
        """A schema for what both allow. Where both say something that cannot be joined, the first is kept."""
        result = dict(one)
        for key, value in other.items():
            have = result.get(key)
            if have is None or key in NOTES or have == value:
                result.setdefault(key, value)
            elif key in (*_MAPS, "patternProperties") and isinstance(have, Mapping) and isinstance(value, Mapping):
                result[key] = self._both(have, value, (*path, key))
            elif key == "required" and isinstance(have, list) and isinstance(value, list):
                result[key] = list(dict.fromkeys((*have, *value)))
            elif key == "additionalProperties" and have in (True, False) and value in (True, False):
                result[key] = have and value
            else:
                self.left.append((*path, key))
        return result

    def _both(self, one: Mapping[str, Any], other: Mapping[str, Any], path: Path) -> dict[str, Any]:
        result = dict(one)
        for name, schema in other.items():
            have = result.get(name)
            both = isinstance(have, Mapping) and isinstance(schema, Mapping)
            result[name] = self._union(have, schema, (*path, name)) if both and have is not None else schema
        return result

    # ---- kinds of values
    def _strings(self, node: dict[str, Any], path: Path) -> None:
        if isinstance(node.get("pattern"), str):
            anchored = anchored_pattern(node["pattern"])
            if anchored is None:
                self._leave(node, "pattern", path)
            else:
                node["pattern"] = anchored
        if "format" in node and node["format"] not in FORMATS:
            self._leave(node, "format", path)
        if "pattern" in node or "format" in node:
            for keyword in (*_LENGTHS, *(["format"] if "pattern" in node else [])):
                self._leave(node, keyword, path)

    def _objects(self, node: dict[str, Any], path: Path) -> None:
        properties = node.get("properties")
        if (
            isinstance(properties, dict)
            and isinstance(node.get("required"), list)
            and node.get("additionalProperties") is not False
        ):
            others = node.get("additionalProperties")
            for key in node["required"]:
                if isinstance(key, str) and key not in properties:
                    properties[key] = others if isinstance(others, Mapping) else {}
        items = node.get("items")
        if isinstance(items, list):  # how drafts up to 7 say prefixItems
            node["prefixItems"] = [self._part(each, (*path, "items", at)) for at, each in enumerate(items)]
            del node["items"]

    def _enumerated(self, node: dict[str, Any]) -> None:
        """A list of values is enough by itself; what conflicts with the type beside it goes."""
        listed, kinds = node.get("enum"), node.get("type")
        names = {kinds} if isinstance(kinds, str) else set(kinds) if isinstance(kinds, list) else set()
        if not isinstance(listed, list) or not names or names - JSON_TYPES:
            return
        allowed = names | ({"integer"} if "number" in names else set())
        fitting = [value for value in listed if types_of({"const": value}, {}) & allowed]
        if fitting:
            node["enum"] = fitting
            del node["type"]

    def _pattern_properties(self, patterns: Mapping[str, Any], path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for pattern, child in patterns.items():
            anchored = anchored_pattern(pattern)
            if anchored is None:
                self.left.append((*path, pattern))
            else:
                result[anchored] = self._part(child, (*path, pattern))
        return result


def anchored_pattern(pattern: str, *, quoted: bool = True) -> str | None:
    """A pattern for the whole text of a string that matches; None for one that xgrammar cannot read as it is meant.

    `quoted`: the text stands between quotes, in JSON's escapes.
    """
    if re.search(r"\(\?[^:]|\\[1-9bBAZzGkpP]", pattern):
        return None
    begins, ends = pattern.startswith("^"), bool(re.search(r"(?<!\\)(?:\\\\)*\$\Z", pattern))
    inner = pattern[begins : len(pattern) - ends]
    pieces = re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", inner, re.DOTALL)
    if any(piece in ("^", "$") for piece in pieces) or (_alternates(pieces) and (begins or ends)):
        return None
    raw = [_raw(piece) if quoted else piece for piece in pieces]
    if None in raw:
        return None
    body = "".join(piece for piece in raw if piece is not None)
    middle = f"({body})" if _alternates(pieces) else body
    return f"^{'' if begins else '.*'}{middle}{'' if ends else '.*'}$"


def _alternates(pieces: list[str]) -> bool:
    """Whether there are alternatives outside of any group."""
    depth = 0
    for piece in pieces:
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            return True
    return False


def _raw(piece: str) -> str | None:
    """One piece of a pattern, as it matches where quotes and backslashes are escaped; None when no piece does."""
    if piece in ('"', '\\"'):
        return r"\\" + '"'
    if piece == r"\\":
        return r"\\\\"
    if piece in (r"\n", r"\r", r"\t", r"\f", r"\v"):
        return r"\\" + piece[1] if piece != r"\v" else None
    if piece.startswith("[") and not piece.startswith("[^") and re.search(r'"|\\\\', piece):
        return None
    return piece
