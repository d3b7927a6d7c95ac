"""Schemas of arguments, made fit to stand alone in a grammar."""

from collections.abc import Mapping
from typing import Any

from ..errors import ConstraintError
from ..message import Tool
from ..schema import resolve

_SHARED = ("$defs", "definitions")


def arguments_schema(tool: Tool) -> dict[str, Any]:
    """The schema of a tool's arguments; without parameters it is of an empty object."""
    parameters = tool.parameters
    if not isinstance(parameters, Mapping):
        raise ConstraintError(f"the parameters of {tool.name} are not a JSON Schema object", tool=tool.name)
    if not parameters:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    return dict(parameters)


def members_of(tool: Tool) -> tuple[dict[str, Any], frozenset[str], Any]:
    """What a tool's object may hold: each property's schema, which are required, and the schema of others (None: no others)."""
    root = arguments_schema(tool)
    properties: dict[str, Any] = {}
    required: set[str] = set()
    for part in _conjuncts(root, root):
        found = part.get("properties")
        properties.update(found if isinstance(found, Mapping) else {})
        required.update(key for key in part.get("required") or () if isinstance(key, str))
    if root.get("additionalProperties") is not False:
        undeclared = root.get("additionalProperties")
        schema = undeclared if isinstance(undeclared, Mapping) else {}
        properties.update(dict.fromkeys(sorted(required - set(properties)), schema))
    others = root.get("additionalProperties", None if properties else True)
    return properties, frozenset(required), None if others is False else others


def _conjuncts(schema: Any, root: Mapping[str, Any], depth: int = 8) -> list[Mapping[str, Any]]:
    """The object schemas that all hold at once, and the alternatives as if they did, without what they require."""
    schema = resolve(schema, root)
    if not isinstance(schema, Mapping) or not depth:
        return []
    parts = [schema]
    for branch in schema.get("allOf") or ():
        parts.extend(_conjuncts(branch, root, depth - 1))
    for keyword in ("anyOf", "oneOf"):
        for branch in schema.get(keyword) or ():
            parts.extend({**part, "required": []} for part in _conjuncts(branch, root, depth - 1))
    return parts


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
