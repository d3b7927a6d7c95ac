"""Schemas in the words that a template can read; only what the model is shown changes, never what its calls are held to."""

from collections.abc import Callable, Mapping
from typing import Any

from .tool_probes import Nullable

Schema = Mapping[str, Any]


def without_type_lists(schema: Schema, nullable: Nullable) -> dict[str, Any]:
    """Every list of types as alternatives, or as its first type."""

    def rewrite(node: Schema) -> dict[str, Any]:
        kinds = node.get("type")
        if kinds == "null":
            return {key: value for key, value in node.items() if key != "type"}
        if not isinstance(kinds, list | tuple):
            return dict(node)
        named = [kind for kind in kinds if kind != "null"] or list(kinds)
        rest = {key: value for key, value in node.items() if key != "type"}
        if nullable == "single" or len(kinds) == 1:
            return {"type": named[0], **rest} if named else rest
        return {"anyOf": [{"type": kind} for kind in kinds], **rest} if "anyOf" not in rest else rest

    return _everywhere(schema, rewrite)


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


def _everywhere(node: Schema, rewrite: Callable[[Schema], dict[str, Any]]) -> dict[str, Any]:
    """Each subschema rewritten, from the outside in."""
    rewritten = rewrite(node)
    for key in ("properties", "$defs", "definitions"):
        if isinstance(rewritten.get(key), Mapping):
            rewritten[key] = {
                name: _everywhere(child, rewrite) if isinstance(child, Mapping) else child
                for name, child in rewritten[key].items()
            }
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(rewritten.get(key), list | tuple):
            rewritten[key] = [_everywhere(child, rewrite) if isinstance(child, Mapping) else child for child in rewritten[key]]
    for key in ("items", "additionalProperties"):
        if isinstance(rewritten.get(key), Mapping):
            rewritten[key] = _everywhere(rewritten[key], rewrite)
    return rewritten
