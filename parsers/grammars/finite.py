"""Whether any value satisfies a schema that means itself: one that must hold another like it, and so on, never ends."""

from collections.abc import Mapping
from typing import Any

from ..schema import resolve
from .merging import Merger, listed, types_of


def finite(schema: Any, root: Mapping[str, Any]) -> bool:
    """Whether a value of this schema may come to an end."""
    return _Finite(root).ends(schema, frozenset())


class _Finite:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._merger = Merger(root)
        self._ending: set[str] = set()

    def ends(self, schema: Any, inside: frozenset[str]) -> bool:
        """`inside`: the references that are being followed; what needs one of them again does not end."""
        if not isinstance(schema, Mapping):
            return schema is not False
        pointer = schema.get("$ref")
        if isinstance(pointer, str):
            return self._reference(pointer, inside)
        node = self._merger.merged(schema, ())
        if listed(node) is not None:
            return True
        for keyword in ("anyOf", "oneOf"):
            if isinstance(node.get(keyword), list):
                return any(self.ends(branch, inside) for branch in node[keyword])
        kinds = types_of(node)
        return bool(set(kinds) - {"object", "array"}) or any(self._compound(node, kind, inside) for kind in kinds)

    def _reference(self, pointer: str, inside: frozenset[str]) -> bool:
        if pointer in self._ending:
            return True
        if pointer in inside or not self.ends(resolve({"$ref": pointer}, self._root), inside | {pointer}):
            return False
        self._ending.add(pointer)
        return True

    def _compound(self, node: Mapping[str, Any], kind: str, inside: frozenset[str]) -> bool:
        if kind == "object":
            properties = node.get("properties")
            known = properties if isinstance(properties, Mapping) else {}
            others = node.get("additionalProperties", True)
            return all(self.ends(known.get(key, others), inside) for key in node.get("required") or () if isinstance(key, str))
        first = node.get("prefixItems") or []
        least = int(node.get("minItems") or 0)
        needed = [*first[:least], *([node.get("items", True)] if least > len(first) else [])]
        return all(self.ends(each, inside) for each in needed)


def without_endless(schema: Any, root: Mapping[str, Any]) -> Any:
    """The schema with `false` in the place of every reference to what never ends."""
    judge = _Finite(root)

    def kept(node: Any) -> Any:
        if isinstance(node, list):
            return [kept(each) for each in node]
        if not isinstance(node, Mapping):
            return node
        if isinstance(node.get("$ref"), str) and not judge.ends(node, frozenset()):
            return False
        return {key: value if key in ("const", "enum", "default", "examples") else kept(value) for key, value in node.items()}

    return kept(schema)
