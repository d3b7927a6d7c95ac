"""Which limit decoding gets, if any. One that cannot be built is refused with its place, never left out in silence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gateway.chat.plan import Constraint, Dialect
from gateway.chat.request import ChatRequest, ResponseFormat
from gateway.errors import GatewayError, ToolSchemaInvalid
from parsers import Format, Tool

from . import content, grammar_check, unheld
from .built import Problem, Wanted, built
from .catalog import ModelSpec

CONTENT_FREE = "response_format is not enforced while decoding here, where the model may call tools instead"
NO_DIALECT = "this engine takes no constraints: calls are checked once they are written"
NO_DIALECT_FOR_CONTENT = "this engine takes no constraints: response_format is not enforced while decoding"


@dataclass(frozen=True, slots=True)
class Limit:
    """What holds decoding, and what is checked only behind it."""

    constraint: Constraint | None = None
    warnings: tuple[str, ...] = ()
    loose: frozenset[str] = frozenset()
    """Tools whose calls the constraint does not hold, or not wholly."""
    loose_answer: bool = False
    """The same of the response format."""


UNLIMITED = Limit()


def for_request(request: ChatRequest, spec: ModelSpec, *, tools: tuple[Tool, ...], opening: str) -> Limit:
    """The limit on decoding. `tools` are those a call may name; `opening` is what the template wrote of the turn."""
    forced = request.tool_choice.mode in ("required", "named")
    held = tuple(tool for tool in tools if forced or tool.strict)
    narrowed = request.tool_choice.allowed is not None and len(tools) < len(request.tools)
    wanted = request.response_format if request.response_format.kind != "text" and not forced else None
    by_tools = bool(held) or narrowed
    single = bool(tools) and not request.parallel_tool_calls and not forced
    if wanted is None and not by_tools and not single:
        return UNLIMITED
    dialect = spec.backend.dialect
    if dialect is None:
        warnings = (NO_DIALECT_FOR_CONTENT,) if wanted else (NO_DIALECT,) if held else ()
        return Limit(None, warnings, frozenset(tool.name for tool in held), wanted is not None)
    build = _Builder(request, spec.format, tools, dialect, opening)
    if wanted is None:
        constraint = build.calls("required" if forced else "auto") if by_tools else build.one_call() if single else None
        warning = ""
    elif tools:
        constraint, warning = build.calls_or_content(strict=by_tools)
    else:
        constraint, warning = build.content()
    return _told(Limit(constraint, (warning,) if warning else ()), held, wanted, build)


def _told(limit: Limit, held: Sequence[Tool], wanted: ResponseFormat | None, build: "_Builder") -> Limit:
    """The limit, with what it leaves to the check behind decoding."""
    left = {tool.name: found for tool in held if (found := unheld.places(tool.parameters, build.dialect, build.format))}
    warnings = [unheld.warning(f"function '{name}'", found) for name, found in left.items()]
    answer = unheld.answer_places(wanted.schema, build.dialect) if wanted and wanted.schema and not limit.warnings else []
    if wanted is not None and answer:
        warnings.append(unheld.warning(f"response_format '{wanted.name}'", answer))
    loose = frozenset(left) if limit.constraint is not None else frozenset(tool.name for tool in held)
    loose_answer = wanted is not None and bool(limit.warnings or answer)
    return Limit(limit.constraint, (*limit.warnings, *warnings), loose, loose_answer)


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds the constraints of one request."""

    request: ChatRequest
    format: Format
    tools: tuple[Tool, ...]
    dialect: Dialect
    opening: str

    def calls(self, choice: Literal["auto", "required"]) -> Constraint | None:
        """Calls that satisfy their schemas: at least one, or wherever the model begins one."""
        constraint, problem = self._tried(self.tools, choice)
        if problem is not None:
            raise self._blamed(problem)
        return constraint

    def one_call(self) -> Constraint | None:
        """Free text and at most one call, where nothing else is demanded. None where that cannot be said: then generation ends
        where a second call begins."""
        return self._tried(self.tools, "auto")[0]

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

    def _tried(self, tools: Sequence[Tool], choice: Literal["auto", "required"]) -> tuple[Constraint | None, Problem | None]:
        """The constraint, or what is wrong with it. A named function is the only tool here, so that it is required by itself."""
        parallel = self.request.parallel_tool_calls and self.request.tool_choice.mode != "named"
        return built(Wanted(self.format, choice, parallel, self.dialect, self.opening), tools)

    def _blamed(self, problem: Problem) -> GatewayError:
        """The error for a refused grammar, with the tool and the place that are refused on their own."""
        for tool in self.tools:
            _, alone = self._tried([tool], "required")
            if alone is not None:
                path = alone.path or grammar_check.path_of_problem(tool.parameters, self.dialect)
                return self._error(tool.name, path, alone.reason)
        return self._error(problem.tool, problem.path, problem.reason)

    def _error(self, name: str | None, path: tuple[str | int, ...], reason: str) -> GatewayError:
        places = [place for place, tool in enumerate(self.request.tools) if tool.name == name]
        if not places:
            return ToolSchemaInvalid(f"These tools cannot be enforced while decoding: {reason}", param="tools")
        place = f"In context={path}, it" if path else "It"
        return ToolSchemaInvalid(
            f"Invalid schema for function '{name}': {place} cannot be enforced while decoding: {reason}",
            param=self.request.place_of_tool(places[0]),
        )
