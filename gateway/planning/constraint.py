"""Which limit decoding gets, if any. One that cannot be built is refused with its place, never left out in silence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import parsers
from gateway.chat.plan import Constraint, Dialect
from gateway.chat.request import ChatRequest
from gateway.errors import GatewayError, ToolSchemaInvalid
from parsers import ConstraintError, Format, Tool

from . import content, grammar_check
from .catalog import ModelSpec

CONTENT_FREE = "response_format is not enforced here while the model may call tools"
NO_DIALECT = "this engine takes no constraints: calls are checked once they are written"
NO_DIALECT_FOR_CONTENT = "this engine takes no constraints: response_format is not enforced"


def for_request(request: ChatRequest, spec: ModelSpec, *, tools: tuple[Tool, ...], opening: str) -> tuple[Constraint | None, str]:
    """The constraint, and a warning ("" when there is none) about what it does not hold.

    `tools` are those a call may name; `opening` is what the template wrote of the turn.
    """
    forced = request.tool_choice.mode in ("required", "named")
    by_tools = forced or any(tool.strict for tool in tools)
    by_content = request.response_format.kind != "text" and not forced
    if spec.backend.dialect is None:
        return None, NO_DIALECT_FOR_CONTENT if by_content else NO_DIALECT if by_tools else ""
    build = _Builder(request, spec.format, tools, spec.backend.dialect, opening)
    if by_content and tools:
        return build.calls_or_content(strict=by_tools)
    if by_content:
        return build.content()
    return (build.calls("required" if forced else "auto"), "") if by_tools else (None, "")


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds the constraints of one request.

    One call only (`parallel_tool_calls: false`) needs none: generation is ended where a second call begins.
    """

    request: ChatRequest
    format: Format
    tools: tuple[Tool, ...]
    dialect: Dialect
    opening: str

    def calls(self, choice: Literal["auto", "required"]) -> Constraint | None:
        """Calls that satisfy their schemas: at least one, or wherever the model begins one."""
        try:
            constraint = self._of(self.tools, choice)
        except ConstraintError as error:
            raise self._error(error.tool, error.path, str(error)) from error
        problem = constraint and grammar_check.problem_of(constraint)
        if problem:
            raise self._blamed(problem)
        return constraint

    def content(self) -> tuple[Constraint | None, str]:
        """An answer in the response format."""
        return content.constraint_for(self.request.response_format, self.format, dialect=self.dialect, opening=self.opening)

    def calls_or_content(self, *, strict: bool) -> tuple[Constraint | None, str]:
        """Calls, or an answer in the response format: the model chooses. `strict`: some tool is, so calls at least are held."""
        answer, warning = self.content()
        calls = self.calls("required") if self.dialect == "structural_tag" else None
        if calls is None or answer is None:
            return (self.calls("auto") if strict else None), warning or CONTENT_FREE
        either = {"type": "or", "elements": [calls.value["format"], answer.value["format"]]}
        return Constraint("structural_tag", {"type": "structural_tag", "format": either}), ""

    def _of(self, tools: Sequence[Tool], choice: Literal["auto", "required"]) -> Constraint | None:
        """A named function is the only tool here, so that it is required by itself."""
        parallel = self.request.parallel_tool_calls and self.request.tool_choice.mode != "named"
        value = parsers.constraint(self.format, tools, choice, parallel=parallel, dialect=self.dialect, opening=self.opening)
        return None if value is None else Constraint(self.dialect, value)

    def _blamed(self, problem: str) -> GatewayError:
        """The error for a refused grammar, with the tool and the place that are refused on their own."""
        for tool in self.tools:
            alone = self._of([tool], "required")
            reason = alone and grammar_check.problem_of(alone)
            if reason:
                return self._error(tool.name, grammar_check.path_of_problem(tool.parameters), reason)
        return self._error(None, (), problem)

    def _error(self, name: str | None, path: tuple[str | int, ...], reason: str) -> GatewayError:
        places = [place for place, tool in enumerate(self.request.tools) if tool.name == name]
        if not places:
            return ToolSchemaInvalid(f"These tools cannot be enforced while decoding: {reason}", param="tools")
        place = f"In context={path}, it" if path else "It"
        return ToolSchemaInvalid(
            f"Invalid schema for function '{name}': {place} cannot be enforced while decoding: {reason}",
            param=self.request.place_of_tool(places[0]),
        )
