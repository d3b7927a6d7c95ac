"""How large a schema may be; what it may say is for planning to tell."""

from collections.abc import Mapping
from typing import Any

from gateway.chat.json_text import canonical
from gateway.errors import ResponseSchemaInvalid, ToolSchemaInvalid
from gateway.settings import Limits

from .nesting import deeper_than


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
    try:
        text = canonical(schema).encode("utf-8", "surrogatepass")
    except RecursionError:
        text = None
    if text is None or deeper_than(limits.schema_depth, schema, text):
        return f"it is nested too deeply (at most {limits.schema_depth} levels)."
    return f"it is too large (at most {limits.schema_bytes} bytes)." if len(text) > limits.schema_bytes else None
