"""What a request demands of the calls in its answer, held against what the model wrote."""

import logging
from dataclasses import dataclass, field

from gateway.chat.plan import Plan
from gateway.planning import schemas
from parsers import Event, Finish, Tool, ToolCallArguments, ToolCallEnd, ToolCallStart

ENDED_BY_ITSELF = ("stop", "tool_calls")
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Demand:
    """The demand on one choice. `broken` tells the first event that breaks it; arguments are collected only where they are held
    to a schema."""

    forced: bool
    held: dict[str, Tool]
    """Tools whose calls must satisfy their schema."""
    _names: list[str] = field(default_factory=list)
    _fragments: list[str] | None = None
    _completed: int = 0

    @classmethod
    def of(cls, plan: Plan) -> "Demand":
        """Under `required` and a named function every call is held to its schema, else the strict tools' calls are."""
        forced = plan.request.tool_choice.mode in ("required", "named")
        return cls(forced, {tool.name: tool for tool in plan.tools if forced or tool.strict})

    @property
    def completed(self) -> int:
        """Whole calls so far."""
        return self._completed

    def broken(self, event: Event) -> str | None:
        """How this event breaks the demand; None when it does not. To be asked for every event, in order."""
        kind = type(event)
        if kind is ToolCallArguments:
            if self._fragments is not None:
                self._fragments.append(event.fragment)  # type: ignore[union-attr]
        elif kind is ToolCallStart:
            self._names.append(event.name)  # type: ignore[union-attr]
            self._fragments = [] if event.name in self.held else None  # type: ignore[union-attr]
        elif kind is ToolCallEnd and event.complete:  # type: ignore[union-attr]
            return self._ended()
        elif kind is Finish:
            return self._finished(event.reason)  # type: ignore[union-attr]
        return None

    def _ended(self) -> str | None:
        self._completed += 1
        if self._fragments is None:
            return None
        name = self._names[-1]
        arguments = "".join(self._fragments) or "{}"
        problem = schemas.violation(arguments, self.held[name].parameters)
        if problem is None:
            return None
        log.debug("refused arguments of %s: %s", name, arguments)
        return f"The model's call to '{name}' breaks the tool's schema: {problem}."

    def _finished(self, reason: str) -> str | None:
        if not self.forced or self._completed or reason not in ENDED_BY_ITSELF:
            return None
        wanted = " or ".join(f"'{name}'" for name in list(self.held)[:5])
        return f"The model ended its turn without the demanded call to {wanted}."
