"""Schemas of arguments, made fit to stand alone in a grammar."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ConstraintError
from ..message import Tool
from ..schema import resolve
from .merging import Merger, listed, properties_of, types_of

_SHARED = ("$defs", "definitions")


def arguments_schema(tool: Tool) -> dict[str, Any]:
    """The schema of a tool's arguments; without parameters it is of an empty object."""
    parameters = tool.parameters
    if not isinstance(parameters, Mapping):
        raise ConstraintError(f"the parameters of {tool.name} are not a JSON Schema object", tool=tool.name)
    if not parameters:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    return dict(parameters)


@dataclass(frozen=True, slots=True)
class Members:
    """What an object may hold: each property's schema, which are required, and the schema of others (None: no others)."""

    properties: dict[str, Any]
    required: frozenset[str]
    others: Any


def members_of(tool: Tool) -> list[Members]:
    """What a tool's object may hold, for each of its schema's alternatives; ConstraintError when nothing satisfies any."""
    root = arguments_schema(tool)
    whole = plain(root, root)
    branches = next((whole[key] for key in ("anyOf", "oneOf") if isinstance(whole.get(key), list)), [whole])
    found = [members for branch in branches for members in _alternatives(plain(branch, root), root)]
    if not found:
        raise ConstraintError(f"no arguments satisfy the schema of {tool.name}", tool=tool.name)
    return found


def _alternatives(node: Any, root: Mapping[str, Any]) -> list[Members]:
    """The members of one alternative, or of each object that it lists; none when it cannot be satisfied."""
    if not isinstance(node, Mapping) or "object" not in types_of(node):
        return []
    if (values := listed(node)) is not None:
        objects = [value for value in values if isinstance(value, dict)]
        return [Members({key: {"const": each} for key, each in value.items()}, frozenset(value), None) for value in objects]
    members = _members(node, root)
    return [] if members is None else [members]


def _members(node: Mapping[str, Any], root: Mapping[str, Any]) -> Members | None:
    required = frozenset(key for key in node.get("required") or () if isinstance(key, str))
    others = node.get("additionalProperties", not properties_of(node))
    properties = dict(properties_of(node))
    undeclared = node.get("additionalProperties", {})  # what a schema requires is written, though others are not invented
    properties.update({key: undeclared for key in sorted(required) if key not in properties})
    never = {key for key, schema in properties.items() if _is_never(plain(schema, root))}
    if never & required:
        return None
    properties = {key: schema for key, schema in properties.items() if key not in never}
    return Members(properties, required, None if others is False else others)


def _is_never(schema: Any) -> bool:
    return schema is False or (isinstance(schema, Mapping) and listed(schema) == [])


def plain(schema: Any, root: Mapping[str, Any]) -> Any:
    """A schema without `allOf`, and with nothing beside a reference or alternatives: what its reference means where it is one."""
    node = resolve(schema, root)
    return Merger(root).merged(node, ()) if isinstance(node, Mapping) else node


def part_schema(schema: Any, root: Mapping[str, Any]) -> dict[str, Any]:
    """A schema from inside another, with the definitions it may refer to."""
    own: dict[str, Any] = dict(schema) if isinstance(schema, Mapping) else {}
    shared = {key: root[key] for key in _SHARED if key in root and key not in own}
    places: dict[str, str] = {}
    found = {**_moved(own, places), **_moved(shared, places)}
    moved: dict[str, Any] = {}
    while len(moved) < len(places):
        pointer = list(places)[len(moved)]
        moved[places[pointer]] = _moved(resolve({"$ref": pointer}, root), places)
    return {**found, "$defs": {**found.get("$defs", {}), **moved}} if moved else found


def _moved(node: Any, places: dict[str, str]) -> Any:
    """A schema whose references lead into definitions; `places` collects those that led elsewhere, and their new names."""
    if isinstance(node, list):
        return [_moved(each, places) for each in node]
    if not isinstance(node, Mapping):
        return node
    result = {key: _moved(value, places) for key, value in node.items()}
    pointer = node.get("$ref")
    if isinstance(pointer, str) and pointer.startswith("#") and not pointer.startswith(tuple(f"#/{key}/" for key in _SHARED)):
        result["$ref"] = "#/$defs/" + places.setdefault(pointer, f"moved_{len(places)}")
    return result
