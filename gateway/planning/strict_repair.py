"""Schemas that miss the rules of Structured Outputs only in form, made to keep them.

Every change narrows: what satisfies the new schema satisfies the old one. These are the changes that OpenAI's own libraries make
before they send a schema; what needs more than them is left as it is, and refused by the rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .strict_rules import Path, types

ANNOTATIONS = frozenset({"title", "description", "examples", "default", "deprecated", "readOnly", "writeOnly", "$comment"})
MOST_INLINED = 500
DEEPEST_INLINED = 64
"""How many references are written out in one schema, and how deep (in steps of a path): a small one could grow without end."""
_MAPS = ("properties", "$defs", "definitions")
Node = dict[str, Any]


def narrowed(schema: Mapping[str, Any]) -> tuple[Node, list[str]]:
    """The schema with what could be narrowed, and what was done where."""
    walk = _Walk(schema)
    result = walk.node(schema, (), frozenset())
    return result, walk.notes


@dataclass(slots=True)
class _Walk:
    root: Mapping[str, Any]
    notes: list[str] = field(default_factory=list)
    inlined: int = 0

    def node(self, node: Any, path: Path, inside: frozenset[str]) -> Any:
        """The schema at this place. `inside`: the references that are written out around it; none is within itself."""
        if not isinstance(node, Mapping):
            return node
        changed, inside = self._without_reference(dict(node), path, inside)
        for name, change in CHANGES.items():
            before = changed
            changed = change(changed)
            if changed is not before:
                self.notes.append(f"{name} in context={path}")
        return {key: self._part(key, value, path, inside) for key, value in changed.items()}

    def _part(self, key: str, value: Any, path: Path, inside: frozenset[str]) -> Any:
        if key in _MAPS and isinstance(value, Mapping):
            return {name: self.node(child, (*path, key, name), inside) for name, child in value.items()}
        if key == "anyOf" and isinstance(value, list | tuple):
            return [self.node(child, (*path, key, str(at)), inside) for at, child in enumerate(value)]
        return self.node(value, (*path, key), inside) if key == "items" else value

    def _without_reference(self, node: Node, path: Path, inside: frozenset[str]) -> tuple[Node, frozenset[str]]:
        """A reference with annotations beside it becomes what it refers to, with these annotations."""
        if (merged := _merged(node)) is not node:
            self.notes.append(f"allOf merged in context={path}")
            return self._without_reference(merged, path, inside)
        reference, beside = node.get("$ref"), {key: value for key, value in node.items() if key != "$ref"}
        target = self._definition(reference) if beside and set(beside) <= ANNOTATIONS else None
        if target is None or reference in inside or self.inlined >= MOST_INLINED or len(path) > DEEPEST_INLINED:
            return node, inside
        self.inlined += 1
        self.notes.append(f"$ref written out in context={path}")
        return self._without_reference({**target, **beside}, path, inside | {str(reference)})

    def _definition(self, reference: Any) -> Mapping[str, Any] | None:
        for key in ("$defs", "definitions"):
            prefix, group = f"#/{key}/", self.root.get(key)
            if isinstance(reference, str) and reference.startswith(prefix) and isinstance(group, Mapping):
                target = group.get(reference.removeprefix(prefix))
                return target if isinstance(target, Mapping) else None
        return None


def _merged(node: Node) -> Node:
    """An allOf of one that says nothing twice is that one."""
    branches = node.get("allOf")
    if not isinstance(branches, list) or len(branches) != 1 or not isinstance(branches[0], Mapping):
        return node
    beside = {key: value for key, value in node.items() if key != "allOf"}
    if set(beside) & set(branches[0]) - ANNOTATIONS or ("$ref" in branches[0] and not set(beside) <= ANNOTATIONS):
        return node
    return {**branches[0], **beside}


def _any_of(node: Node) -> Node:
    """A oneOf whose branches exclude each other is an anyOf."""
    branches = node.get("oneOf")
    if not isinstance(branches, list) or "anyOf" in node or not exclusive(branches):
        return node
    return {"anyOf" if key == "oneOf" else key: value for key, value in node.items()}


def exclusive(branches: list[Any]) -> bool:
    """Whether no value can satisfy two of them, told by their types."""
    if not all(isinstance(branch, Mapping) and "type" in branch for branch in branches):
        return False
    kinds = ["number" if kind == "integer" else kind for branch in branches for kind in types(branch)]
    return all(isinstance(kind, str) for kind in kinds) and len(set(kinds)) == len(kinds)


def _typed(node: Node) -> Node:
    """Constants and object schemas without a type get the one they have."""
    if {"type", "anyOf", "oneOf", "allOf", "$ref"} & set(node):
        return node
    values = [node["const"]] if "const" in node else node.get("enum")
    if isinstance(values, list) and values:
        kinds = list(dict.fromkeys(_type_of(value) for value in values))
        return {"type": kinds[0] if len(kinds) == 1 else kinds, **node}
    return {"type": "object", **node} if isinstance(node.get("properties"), Mapping) else node


def _type_of(value: Any) -> str:
    known = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
    return known.get(type(value), "null")


def _closed(node: Node) -> Node:
    """Objects that declare properties hold nothing else."""
    if "object" not in types(node) or not node.get("properties") or node.get("additionalProperties", True) is not True:
        return node
    return {**node, "additionalProperties": False}


def _requiring(node: Node) -> Node:
    """Objects hold every property that they declare."""
    properties, required = node.get("properties"), node.get("required", [])
    if "object" not in types(node) or not isinstance(properties, Mapping) or not isinstance(required, list):
        return node
    missing = [key for key in properties if key not in required]
    return {**node, "required": [*required, *missing]} if missing else node


CHANGES = {
    "oneOf read as anyOf": _any_of,
    "type added": _typed,
    "additionalProperties set to false": _closed,
    "required completed": _requiring,
}
