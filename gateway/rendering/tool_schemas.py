"""Schemas in the words that a template can read; only what the model is shown changes, never what its calls are held to."""

from collections.abc import Callable, Mapping
from typing import Any

from .tool_probes import Nullable

Schema = Mapping[str, Any]
_NULL = {"type": "null"}
_OTHERS = "additionalProperties"


def without_type_lists(schema: Schema, nullable: Nullable) -> dict[str, Any]:
    """Every list of types as alternatives, or as its first type; a type that is null alone is left out."""

    def rewrite(node: Schema) -> dict[str, Any]:
        kinds = node.get("type")
        rest = {key: value for key, value in node.items() if key != "type"}
        if kinds == "null":
            return rest
        if nullable == "single":
            node = _one_alternative(node)
        if not isinstance(kinds, list | tuple):
            return dict(node)
        named = [kind for kind in kinds if kind != "null"]
        if nullable == "single" or len(kinds) == 1:
            return {"type": named[0], **rest} if named else rest
        return {"anyOf": [{"type": kind} for kind in kinds], **rest} if "anyOf" not in rest else rest

    # the template was found to read null as an alternative
    return _everywhere(schema, rewrite, kept=_NULL if nullable == "any_of" else None)


def with_additional_properties(schema: Schema) -> dict[str, Any]:
    """Every object says that its other properties may be anything, unless it says otherwise."""

    def rewrite(node: Schema) -> dict[str, Any]:
        return {**node, "additionalProperties": {}} if node.get("type") == "object" and _OTHERS not in node else dict(node)

    return _everywhere(schema, rewrite)


def _one_alternative(node: Schema) -> Schema:
    """A node whose alternatives are one and null becomes that one."""
    for key in ("anyOf", "oneOf"):
        given = node.get(key)
        if isinstance(given, list | tuple) and _NULL in given:
            others = [alternative for alternative in given if alternative != _NULL]
            rest = {name: value for name, value in node.items() if name != key}
            return {**others[0], **rest} if len(others) == 1 and isinstance(others[0], Mapping) else {**rest, key: others}
    return node


def with_descriptions(schema: Schema) -> dict[str, Any]:
    """An empty description for every property that has none."""

    def rewrite(node: Schema) -> dict[str, Any]:
        properties = node.get("properties")
        if not isinstance(properties, Mapping):
            return dict(node)
        described = {
            key: {"description": "", **value} if isinstance(value, Mapping) else value for key, value in properties.items()
        }
        return {**node, "properties": described}

    return _everywhere(schema, rewrite)


def _everywhere(node: Schema, rewrite: Callable[[Schema], dict[str, Any]], kept: Schema | None = None) -> dict[str, Any]:
    """Each subschema rewritten, from the outside in, but for alternatives that are `kept`."""

    def inside(child: Any) -> Any:
        return _everywhere(child, rewrite, kept) if isinstance(child, Mapping) else child

    rewritten = rewrite(node)
    for key in ("properties", "$defs", "definitions"):
        if isinstance(rewritten.get(key), Mapping):
            rewritten[key] = {name: inside(child) for name, child in rewritten[key].items()}
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(rewritten.get(key), list | tuple):
            rewritten[key] = [child if child == kept else inside(child) for child in rewritten[key]]
    for key in ("items", "additionalProperties"):
        rewritten.update({key: inside(rewritten[key])} if key in rewritten else {})
    return rewritten
