"""How large a schema may be; what it may say is for planning to tell."""

import json
from collections.abc import Mapping
from typing import Any

from gateway.errors import ResponseSchemaInvalid, ToolSchemaInvalid
from gateway.settings import Limits


def check_parameters(name: str, schema: Mapping[str, Any], *, param: str, limits: Limits) -> None:
    """ToolSchemaInvalid when the parameters are too large to be looked at."""
    if problem := _size_problem(schema, limits):
        raise ToolSchemaInvalid(f"Invalid schema for function '{name}': {problem}", param=param)


def check_response_schema(
    name: str, schema: Mapping[str, Any], limits: Limits, *, place: str = "response_format", code: str | None = None
) -> None:
    """ResponseSchemaInvalid when the schema is too large to be looked at."""
    if problem := _size_problem(schema, limits):
        raise ResponseSchemaInvalid(f"Invalid schema for response_format '{name}': {problem}", param=place, code=code)


def _size_problem(schema: Mapping[str, Any], limits: Limits) -> str | None:
    if _depth(schema, limits.schema_depth) > limits.schema_depth:
        return f"it is nested too deeply (at most {limits.schema_depth} levels)."
    if len(json.dumps(schema)) > limits.schema_bytes:
        return f"it is too large (at most {limits.schema_bytes} bytes)."
    return None


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
