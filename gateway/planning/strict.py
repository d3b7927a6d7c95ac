"""Whether a request's schemas may be used: OpenAI's rules as a model's entry applies them, then JSON Schema's own.

All tools are looked at, also those that the tool choice leaves out; the first error wins.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from gateway.chat.request import ChatRequest
from gateway.errors import RequestError, ResponseSchemaInvalid, ToolSchemaInvalid

from . import schemas
from .strict_repair import narrowed
from .strict_rules import broken_plain_rule, broken_root_rule, broken_rule

Policy = Literal["openai", "repair", "lenient"]
"""`openai` refuses what OpenAI refuses. `repair` narrows strict schemas first, as OpenAI's libraries do, and refuses the rest.
`lenient` takes every JSON Schema; strict then only means that calls are held to it."""
MOST_NOTES = 4


def with_usable_schemas(request: ChatRequest, policy: Policy) -> ChatRequest:
    """The request, with schemas narrowed where the policy does so and a warning for each; RequestError names the first schema
    that cannot be used, and where."""
    tools, warnings = [], list(request.warnings)
    for at, tool in enumerate(request.tools):
        subject = _Subject(f"function '{tool.name}'", ToolSchemaInvalid, request.place_of_tool(at), None)
        parameters = subject.narrowed(tool.parameters, warnings) if tool.strict and policy == "repair" else tool.parameters
        if parameters:
            subject.check(parameters, _broken_parameters(parameters, policy, strict=tool.strict))
        tools.append(tool if parameters is tool.parameters else replace(tool, parameters=parameters))
    return replace(
        request, tools=tuple(tools), response_format=_usable_format(request, policy, warnings), warnings=tuple(warnings)
    )


def _usable_format(request: ChatRequest, policy: Policy, warnings: list[str]) -> Any:
    wanted = request.response_format
    if wanted.schema is None:
        return wanted
    subject = _Subject(f"response_format '{wanted.name}'", ResponseSchemaInvalid, wanted.place, wanted.code)
    schema = subject.narrowed(wanted.schema, warnings) if wanted.strict and policy == "repair" else wanted.schema
    subject.check(schema, broken_rule(schema) if wanted.strict and policy != "lenient" else None)
    return replace(wanted, schema=schema)


def _broken_parameters(schema: Mapping[str, Any], policy: Policy, *, strict: bool) -> str | None:
    if policy == "lenient":
        return broken_root_rule(schema) if schema.get("type") != "object" else None
    return broken_rule(schema) if strict else broken_plain_rule(schema)


@dataclass(frozen=True, slots=True)
class _Subject:
    """Whose schema it is, and how an error about it is told."""

    what: str
    error: type[RequestError]
    place: str
    code: str | None

    def narrowed(self, schema: Mapping[str, Any], warnings: list[str]) -> Mapping[str, Any]:
        """The schema as the rules want it, as far as it can be narrowed to that; with a warning."""
        found, notes = narrowed(schema)
        if not notes:
            return schema
        more = f" and {len(notes) - MOST_NOTES} more" if len(notes) > MOST_NOTES else ""
        warnings.append(f"schema of {self.what} was narrowed: {', '.join(notes[:MOST_NOTES])}{more}")
        return found

    def check(self, schema: Mapping[str, Any], broken: str | None) -> None:
        """Raise what is wrong: the broken rule, or that it is no JSON Schema."""
        problem = broken or schemas.problem_of(schema)
        if problem:
            raise self.error(f"Invalid schema for {self.what}: {problem}", param=self.place, code=self.code)
