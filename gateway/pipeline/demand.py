"""What a request demands of an answer, held against what the model wrote."""

import json
import logging
from dataclasses import dataclass, field

from gateway.chat.plan import Plan
from gateway.chat.request import ResponseFormat
from gateway.errors import BackendError, ContentInvalid, ToolCallInvalid
from gateway.planning import schemas
from parsers import ContentDelta, Event, Finish, Tool, ToolCallArguments, ToolCallEnd, ToolCallStart

ENDED_BY_ITSELF = ("stop", "tool_calls")
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Demand:
    """The demand on one choice. Text is collected only where it is held to a schema."""

    forced: bool
    held: dict[str, Tool]
    """Tools whose calls must satisfy their schema."""
    answer: ResponseFormat | None
    """What an answer without calls must look like."""
    _name: str = ""
    _fragments: list[str] | None = None
    _content: list[str] = field(default_factory=list)
    _completed: int = 0

    @classmethod
    def of(cls, plan: Plan) -> "Demand":
        """Under `required` and a named function every call is held to its schema, else the strict tools' calls are. So is a
        strict response format: the constraint may have been looser than the schema."""
        forced = plan.request.tool_choice.mode in ("required", "named")
        wanted = plan.request.response_format
        answer = wanted if wanted.strict and wanted.schema is not None and plan.constraint is not None and not forced else None
        return cls(forced, {tool.name: tool for tool in plan.tools if forced or tool.strict}, answer)

    @property
    def completed(self) -> int:
        """Whole calls so far."""
        return self._completed

    def broken(self, event: Event) -> BackendError | None:
        """How this event breaks the demand; None when it does not. To be asked for every event, in order."""
        match event:
            case ToolCallArguments():
                if self._fragments is not None:
                    self._fragments.append(event.fragment)
            case ContentDelta():
                if self.answer is not None:
                    self._content.append(event.text)
            case ToolCallStart():
                self._name = event.name
                self._fragments = [] if event.name in self.held else None
            case ToolCallEnd(complete=True):
                return self._ended()
            case Finish():
                return self._finished(event.reason)
            case _:
                pass
        return None

    def _ended(self) -> BackendError | None:
        self._completed += 1
        if self._fragments is None:
            return None
        arguments = "".join(self._fragments) or "{}"
        problem = schemas.violation(arguments, self.held[self._name].parameters)
        if problem is None:
            return None
        log.debug("refused arguments of %s: %s", self._name, arguments)
        return ToolCallInvalid(f"The model's call to '{self._name}' breaks the tool's schema: {problem}.")

    def _finished(self, reason: str) -> BackendError | None:
        if self._completed or reason not in ENDED_BY_ITSELF:
            return None
        if self.forced:
            wanted = " or ".join(f"'{name}'" for name in list(self.held)[:5])
            return ToolCallInvalid(f"The model ended its turn without the demanded call to {wanted}.")
        problem = self._answer_problem()
        return ContentInvalid(f"The model's answer breaks the response format: {problem}.") if problem else None

    def _answer_problem(self) -> str | None:
        if self.answer is None or self.answer.schema is None:
            return None
        try:
            value = json.loads("".join(self._content))
        except (ValueError, RecursionError) as error:
            return f"it is not JSON ({error})"
        return schemas.value_violation(value, self.answer.schema)
