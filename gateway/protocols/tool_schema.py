"""OpenAI's rules for every tool's parameters, strict or not; whether they are JSON Schema at all is for planning to say."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.errors import ResponseSchemaInvalid, ToolSchemaInvalid
from gateway.settings import Limits

COMBINATORS = ("anyOf", "oneOf", "allOf", "enum", "not")
Path = tuple[str, ...]


def check_parameters(name: str, schema: Mapping[str, Any], *, param: str, limits: Limits) -> None:
    """ToolSchemaInvalid unless these are the parameters of a function. An empty object takes no arguments."""
    if schema and (problem := _size_problem(schema, limits) or _root_problem(schema) or _array_problem(schema)):
        raise ToolSchemaInvalid(f"Invalid schema for function '{name}': {problem}", param=param)


def check_response_schema(name: str, schema: Mapping[str, Any], limits: Limits) -> None:
    """ResponseSchemaInvalid unless this may become a constraint."""
    if problem := _size_problem(schema, limits):
        raise ResponseSchemaInvalid(f"Invalid schema for response_format '{name}': {problem}", param="response_format")


def _size_problem(schema: Mapping[str, Any], limits: Limits) -> str | None:
    if _depth(schema, limits.schema_depth) > limits.schema_depth:
        return f"it is nested too deeply (at most {limits.schema_depth} levels)."
    if len(json.dumps(schema)) > limits.schema_bytes:
        return f"it is too large (at most {limits.schema_bytes} bytes)."
    return None


def _root_problem(schema: Mapping[str, Any]) -> str | None:
    if schema.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
    if any(key in schema for key in COMBINATORS):
        return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
    return None


def _array_problem(schema: Mapping[str, Any]) -> str | None:
    for path, node in _schemas(schema):
        kinds = node.get("type")
        if (kinds == "array" or (isinstance(kinds, list) and "array" in kinds)) and not (
            "items" in node or "prefixItems" in node
        ):
            return f"In context={path}, array schema missing items."
    return None


def _schemas(root: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Every schema inside, with its path; without recursion, because clients write them."""
    waiting: list[tuple[Path, Any]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield path, node
        for key in ("items", "additionalProperties"):
            if key in node:
                waiting.append(((*path, key), node[key]))
        for key in ("properties", "$defs", "definitions", "patternProperties"):
            if isinstance(node.get(key), dict):
                waiting += [((*path, key, name), child) for name, child in node[key].items()]
        for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            if isinstance(node.get(key), list):
                waiting += [((*path, key, str(index)), child) for index, child in enumerate(node[key])]


def _depth(value: Any, limit: int) -> int:
    """How deep it is nested; counting stops one past the limit."""
    level, depth = [value], 0
    while level and depth <= limit:
        depth += 1
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, (dict, list))
        ]
    return depth
