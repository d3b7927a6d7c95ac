"""What a request demands of an answer, held against what the model wrote."""

import logging
from dataclasses import dataclass, field

from gateway.chat.plan import Plan
from gateway.chat.request import ResponseFormat
from gateway.errors import AnswerInvalid, ContentInvalid, ToolCallInvalid
from gateway.planning import schemas
from parsers import ContentDelta, Delta, Event, Finish, Notice, Tool, ToolCallArguments, ToolCallEnd, ToolCallStart

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
    hidden: str | None = None
    """The function that is not the client's; it is no call that was demanded."""
    excused: bool = False
    """The model has declined in words, as it was allowed to."""
    completed: int = 0
    """Whole calls so far."""
    call: tuple[str, str] = ("", "")
    """Name and arguments of the last call that was held to a schema."""
    _name: str = ""
    _fragments: list[str] | None = None
    _content: list[str] = field(default_factory=list)
    _undeclared: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan) -> "Demand":
        """Under `required` and a named function every call is held to its schema, else the strict tools' calls are; a turn
        without calls is held to a binding response format. The constraint may have been looser than the schema, or missing."""
        forced = plan.request.tool_choice.mode in ("required", "named")
        wanted = plan.request.response_format
        answer = wanted if wanted.binding and not forced else None
        return cls(forced, {tool.name: tool for tool in plan.tools if forced or tool.strict}, answer, plan.hidden)

    @property
    def free(self) -> bool:
        """Nothing is demanded."""
        return not self.forced and not self.held and self.answer is None

    @property
    def content(self) -> str:
        """The answer so far, where it is held to a format."""
        return "".join(self._content)

    def broken(self, event: Event) -> AnswerInvalid | None:
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
            case Notice("undeclared", detail):
                self._undeclared.append(detail)
            case Finish():
                return self._finished(event.reason)
            case _:
                pass
        return None

    def kept(self, kind: Delta) -> list[str] | None:
        """Where the text of such deltas is collected; None where it is not. What `broken` is not asked for is to be added."""
        if kind is ToolCallArguments:
            return self._fragments
        return self._content if kind is ContentDelta and self.answer is not None else None

    def satisfied_by(self, event: Event) -> bool:
        """Whether this event, which broke nothing, completed something that was held to a schema."""
        if isinstance(event, ToolCallEnd):
            return event.complete and self._fragments is not None
        return isinstance(event, Finish) and self.answer is not None and self._owes_answer(event.reason)

    def _ended(self) -> AnswerInvalid | None:
        self.completed += 1
        if self._fragments is None:
            return None
        self.call = self._name, "".join(self._fragments) or "{}"
        problem = schemas.violation(self.call[1], self.held[self._name].parameters)
        if problem is None:
            return None
        log.debug("refused arguments of %s: %s", *self.call)
        return ToolCallInvalid(f"The model's call to '{self._name}' breaks the tool's schema: {problem}.")

    def _owes_answer(self, reason: str) -> bool:
        return not self.completed and reason in ENDED_BY_ITSELF

    def _finished(self, reason: str) -> AnswerInvalid | None:
        if not self._owes_answer(reason) or self.excused:
            return None
        if self.forced:
            wanted = " or ".join(f"'{name}'" for name in [name for name in self.held if name != self.hidden][:5])
            wrote = f" ({'; '.join(self._undeclared[:3])})" if self._undeclared else ""
            return ToolCallInvalid(f"The model ended its turn without the demanded call to {wanted}{wrote}.")
        if self.answer is None:
            return None
        problem = schemas.answer_violation(self.content, self.answer.schema)
        return ContentInvalid(f"The model's answer breaks the response format: {problem}.") if problem else None
