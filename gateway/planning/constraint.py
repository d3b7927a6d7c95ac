"""Which limit decoding gets, if any. One that cannot be built is refused with its place, never left out in silence."""

from collections.abc import Mapping, Sequence
from typing import Any

import parsers
from gateway.backends.base import Backend
from gateway.chat.plan import Constraint, Dialect
from gateway.chat.request import ChatRequest, ResponseFormat
from gateway.errors import GatewayError, ResponseSchemaInvalid, ToolSchemaInvalid
from parsers import ConstraintError, Format, Tool

from . import grammar_check
from .catalog import ModelSpec

CONTENT_FREE = "response_format is not enforced while the model may call tools"
NO_DIALECT = "this engine takes no constraints: the answer is checked afterwards only"


def for_request(request: ChatRequest, spec: ModelSpec, *, tools: tuple[Tool, ...], opening: str) -> tuple[Constraint | None, str]:
    """The constraint, and a warning ("" when there is none) about what it does not hold.

    `tools` are those a call may name; `opening` is what the template wrote of the turn.
    """
    by_tools = _needed_for_tools(request, tools)
    by_content = request.response_format.kind != "text"
    dialect = _dialect(spec.backend)
    if dialect is None:
        return None, NO_DIALECT if by_tools or by_content else ""
    if by_tools:
        constraint = _for_tools(request, spec.format, tools=tools, dialect=dialect, opening=opening)
        return constraint, CONTENT_FREE if by_content else ""
    if by_content and tools:
        return None, CONTENT_FREE
    return (_for_content(request.response_format, dialect) if by_content else None), ""


def _dialect(backend: Backend) -> Dialect | None:
    return backend.dialect


def _needed_for_tools(request: ChatRequest, tools: Sequence[Tool]) -> bool:
    """One call only (`parallel_tool_calls: false`) needs no grammar: generation ends where a second call begins."""
    return request.tool_choice.mode in ("required", "named") or any(tool.strict for tool in tools)


def _for_tools(
    request: ChatRequest, fmt: Format, *, tools: tuple[Tool, ...], dialect: Dialect, opening: str
) -> Constraint | None:
    choice = request.tool_choice.name or request.tool_choice.mode
    parallel = request.parallel_tool_calls and request.tool_choice.mode != "named"

    def build(some: Sequence[Tool], how: str) -> Constraint | None:
        value = parsers.constraint(fmt, some, how, parallel=parallel, dialect=dialect, opening=opening)
        return None if value is None else Constraint(dialect, value)

    try:
        constraint = build(tools, choice)
    except ConstraintError as error:
        raise _tool_error(request, error.tool, error.path, str(error)) from error
    problem = constraint and grammar_check.problem_of(constraint)
    if problem:
        raise _blamed(request, tools, build, problem=problem)
    return constraint


def _blamed(request: ChatRequest, tools: Sequence[Tool], build: Any, *, problem: str) -> GatewayError:
    """The error for a refused grammar, with the tool and the place that are refused on their own."""
    for tool in tools:
        alone = build([tool], tool.name)
        reason = alone and grammar_check.problem_of(alone)
        if reason:
            return _tool_error(request, tool.name, grammar_check.path_of_problem(tool.parameters), reason)
    return _tool_error(request, None, (), problem)


def _tool_error(request: ChatRequest, name: str | None, path: tuple[str | int, ...], reason: str) -> GatewayError:
    places = [place for place, tool in enumerate(request.tools) if tool.name == name]
    if not places:
        return ToolSchemaInvalid(f"These tools cannot be enforced while decoding: {reason}", param="tools")
    place = f"In context={path}, " if path else ""
    return ToolSchemaInvalid(
        f"Invalid schema for function '{name}': {place}this cannot be enforced while decoding: {reason}",
        param=f"tools[{places[0]}].function.parameters",
    )


def _for_content(wanted: ResponseFormat, dialect: Dialect) -> Constraint:
    """The answer as one JSON value. A structural tag rather than the engine's own JSON mode: vLLM chooses its grammar compiler
    by the first JSON-mode schema it meets, for good."""
    schema: Mapping[str, Any] = wanted.schema or {"type": "object"}
    if dialect == "lark":
        constraint = Constraint("json_schema" if wanted.schema else "json_object", dict(schema))
    else:
        inner = {"type": "json_schema", "json_schema": dict(schema), "max_whitespace_cnt": 1}
        constraint = Constraint("structural_tag", {"type": "structural_tag", "format": inner})
    problem = grammar_check.problem_of(constraint)
    if problem:
        raise ResponseSchemaInvalid(
            f"Invalid schema for response_format '{wanted.name}': In context={grammar_check.path_of_problem(schema)}, {problem}",
            param="response_format.json_schema.schema",
        )
    return constraint
