"""JSON for llguidance, written out down to its numbers. In its own schemas those have no end of digits and exponents, and it
compares whole ones as doubles.
"""

import json
from collections.abc import Mapping
from typing import Any

from ..schema import resolve
from .lark_schema import LARGEST_EXACT
from .merging import DEFINITIONS, NOTES, properties_of, types_of
from .numbers import NoNumber, number_pattern
from .python_values import listed
from .schemas import part_schema
from .shapes import Const, Json, Pattern, Several, Shape, all_of, one_of

DEEPEST = 6
MOST_OPTIONAL = 8
"""Members that may all be missing: their commas are said for each beginning."""
_SAID = {
    "object": {"type", "properties", "required", "additionalProperties"},
    "array": {"type", "items"},
    "number": {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}


def json_shape(schema: Mapping[str, Any]) -> Shape:
    """The values of a schema: as one schema, or written out as far as they hold numbers."""
    found = _written(schema, schema, DEEPEST)
    return Json(schema) if found is None else found


def _written(schema: Any, root: Mapping[str, Any], depth: int) -> Shape | None:
    """The shape; None where the schema holds no number that is to be written out, or cannot be written out."""
    if not depth:
        return None
    if depth < DEEPEST and isinstance(schema, Mapping) and "$ref" in schema:  # a rule of its own, which may mean itself
        meant = resolve(schema, root)
        return _written(meant, root, depth - 1) and Json(part_schema(schema, root))
    node = resolve(schema, root)
    if not isinstance(node, Mapping):
        return None
    said = set(node) - NOTES - DEFINITIONS
    if said == {"anyOf"}:
        return _one_of(node["anyOf"], root, depth)
    kinds = types_of(node) if "type" in node else ()
    if len(kinds) != 1:
        return None
    kind = "number" if kinds[0] == "integer" else kinds[0]
    if said - _SAID.get(kind, set()):
        return None
    match kind:
        case "number":
            return _number(node, integer=kinds[0] == "integer")
        case "array":
            item = _written(node.get("items", {}), root, depth - 1)
            return item and all_of(Const("["), Several(item, ", ", least=0), Const("]"))
        case "object":
            return _object(node, root, depth)
        case _:
            return None


def _number(node: Mapping[str, Any], *, integer: bool) -> Shape | None:
    if integer and not _has_large_bound(node):
        return None
    try:
        pattern, held = number_pattern(node, integer=integer)
    except NoNumber:
        return None
    return Pattern(pattern) if held else None


def _has_large_bound(node: Mapping[str, Any]) -> bool:
    """Whether an integer has a bound that is no exact double, or may be none."""
    bounds = (node.get(key) for key in _SAID["number"] - {"type", "multipleOf"})
    return any(isinstance(bound, int | float) and abs(bound) > LARGEST_EXACT for bound in bounds)


def _one_of(branches: Any, root: Mapping[str, Any], depth: int) -> Shape | None:
    ways = [_written(branch, root, depth - 1) for branch in branches]
    if not any(ways):
        return None
    pairs = zip(ways, branches, strict=True)
    return one_of(*(way if way is not None else Json(part_schema(branch, root)) for way, branch in pairs))


def _object(node: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Shape | None:
    properties, required = properties_of(node), node.get("required") or ()
    optional_first = next((at for at, key in enumerate(properties) if key in required), len(properties))
    if node.get("additionalProperties", False) is not False or set(required) - set(properties) or optional_first > MOST_OPTIONAL:
        return None
    values = {key: _written(each, root, depth - 1) for key, each in properties.items()}
    if not any(values.values()):
        return None
    members = []
    for key, value in values.items():
        shape = value if value is not None else Json(part_schema(properties[key], root))
        members.append((all_of(Const(f"{json.dumps(key, ensure_ascii=False)}: "), shape), key in required))
    return all_of(Const("{"), listed(members), Const("}"))
