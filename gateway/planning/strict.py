"""Whether a request's schemas may be used: OpenAI's rules as a model's entry applies them, then JSON Schema's own.

All tools are looked at, also those that the tool choice leaves out; the first error wins.
"""

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from gateway.chat.json_text import canonical
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
        parameters = tool.parameters
        if tool.strict and policy == "repair":
            parameters = _of_tool(request, at).narrowed(parameters, warnings)
        rules = "object" if policy == "lenient" else "strict" if tool.strict else "plain"
        if parameters and (problem := _problem(parameters, rules)):
            raise _of_tool(request, at).refused(problem)
        tools.append(tool if parameters is tool.parameters else replace(tool, parameters=parameters))
    wanted = _usable_format(request, policy, warnings)
    if len(warnings) == len(request.warnings) and wanted is request.response_format:
        return request  # nothing was narrowed, or there would be a warning
    return replace(request, tools=tuple(tools), response_format=wanted, warnings=tuple(warnings))


def _usable_format(request: ChatRequest, policy: Policy, warnings: list[str]) -> Any:
    wanted = request.response_format
    if wanted.schema is None:
        return wanted
    subject = _Subject(f"response_format '{wanted.name}'", ResponseSchemaInvalid, wanted.place, wanted.code)
    schema = subject.narrowed(wanted.schema, warnings) if wanted.strict and policy == "repair" else wanted.schema
    if problem := _problem(schema, "strict" if wanted.strict and policy != "lenient" else "any"):
        raise subject.refused(problem)
    return replace(wanted, schema=schema)


def _object_rule(schema: Mapping[str, Any]) -> str | None:
    return broken_root_rule(schema) if schema.get("type") != "object" else None


RULES: dict[str, Callable[[Mapping[str, Any]], str | None]] = {
    "strict": broken_rule,
    "plain": broken_plain_rule,
    "object": _object_rule,
    "any": lambda schema: None,
}
MOST_KNOWN = 4096
_known: dict[bytes, str] = {}
"""What was found out about schemas that came lately ("" = nothing): agents send the same ones with every request."""
_guarding = threading.Lock()


def _problem(schema: Mapping[str, Any], rules: str) -> str:
    """The first broken rule, or that it is no JSON Schema; "" when it is well."""
    key = hashlib.sha256(f"{rules} {canonical(schema)}".encode("utf-8", "surrogatepass")).digest()
    problem = _known.get(key)
    if problem is None:
        problem = RULES[rules](schema) or schemas.problem_of(schema) or ""
        with _guarding:
            while len(_known) >= MOST_KNOWN:
                del _known[next(iter(_known))]
            _known[key] = problem
    return problem


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

    def refused(self, problem: str) -> RequestError:
        """The error for what is wrong with it."""
        return self.error(f"Invalid schema for {self.what}: {problem}", param=self.place, code=self.code)


def _of_tool(request: ChatRequest, at: int) -> _Subject:
    return _Subject(f"function '{request.tools[at].name}'", ToolSchemaInvalid, request.place_of_tool(at), None)
