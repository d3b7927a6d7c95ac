"""What is known of one generation request while it runs, and what its events tell."""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from parsers import Event, Finish, Notice, ToolCallEnd, ToolCallStart

if TYPE_CHECKING:
    from opentelemetry.trace import Span

CLIENT_GONE = 499
"""The status of a request whose client did not wait for an answer."""
NO_CALL = frozenset({"malformed", "undeclared", "dialect"})
"""Notices of calls that a model tried and that could not be read as one, unless they stand behind a call's end."""
log = logging.getLogger("gateway.requests")


class Called(NamedTuple):
    """A call that a model began, the one at this place of its choice. `id`: the model's own, where its format has one. `at`:
    nanoseconds since 1970."""

    choice: int
    place: int
    name: str
    id: str | None
    at: int


def _counts() -> defaultdict[str, int]:
    return defaultdict(int)


class Record(msgspec.Struct):
    """What is known of one generation request so far."""

    asked: str = ""
    """The model's name as the client wrote it."""
    operation: str = "chat"
    """chat, text_completion or embeddings."""
    model: str = "unknown"
    restarts: int = 0
    """How often the turn was taken again because its engine broke off, unseen by the client."""
    instead_of: str = ""
    """The model that was asked for, where another one answers."""
    key: str | None = None
    """The name of the API key."""
    lease: str = ""
    """Its own name among the requests that are counted for that key."""
    format: str = ""
    backend: str = ""
    tool_choice: str = ""
    tools: int = 0
    constraint: str = ""
    guards: tuple[str, ...] = ()
    """The guards that changed or reported the conversation."""
    status: int = 200
    error: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    response_id: str = ""
    attempted: int = 0
    """Calls that were begun or tried."""
    completed: int = 0
    truncated: int = 0
    refused: int = 0
    """Calls and answers that broke what the request demanded."""
    invalid: int = 0
    """Whole calls that broke their tool's schema, whether or not it was demanded of them."""
    call_id: Callable[[int, int], str] | None = None
    """The id under which the client gets a call, by choice and place."""
    calls: list[Called] = msgspec.field(default_factory=list)
    finishes: list[str] = msgspec.field(default_factory=list)
    """How the choices ended."""
    notices: defaultdict[str, int] = msgspec.field(default_factory=_counts)
    steps: defaultdict[str, int] = msgspec.field(default_factory=_counts)
    """What holding the turn to the request's demands came to: valid, repaired, retried, reported, failed, declined."""
    engines: list[str] = msgspec.field(default_factory=list)
    """Addresses of the engines that were asked, the last one last."""
    started: float = msgspec.field(default_factory=time.perf_counter)
    first: float | None = None
    idle_since: float = 0.0
    """Since when nothing has been to be done but to wait for the engine, in the clock of `time.perf_counter`."""
    engine_wait: float = 0.0
    """Seconds in which nothing was to be done but to wait for the engine, its queue included."""
    client_wait: float = 0.0
    """Seconds in which what came was being sent to the client."""
    span: "Span | None" = None
    """Where the request is traced: what it is told as."""
    keeps: bool = False
    """Whether what the model says is kept, for the trace or for a recording."""

    def begun(self) -> None:
        """The first event of the answer is there, or was."""
        if self.first is None:
            self.first = time.perf_counter()

    def count(self, events: Sequence[Event], choice: int = 0) -> None:
        """Take note of what one choice's events tell."""
        self.begun()
        for place, event in enumerate(events):
            kind = type(event)
            if kind is ToolCallStart:
                self._began(event, choice)
            elif kind is ToolCallEnd:
                self._ended(event, events[place + 1 : place + 2])
            elif kind is Notice:
                self._noticed(event, events, place)
            elif kind is Finish:
                self.finishes.append(event.reason)  # type: ignore[union-attr]

    def note(self, notice: Notice) -> None:
        """Take note of a notice that the gateway makes itself."""
        self.notices[notice.kind] += 1

    def failed(self, status: int, error: str) -> None:
        """The request came to no good end."""
        self.status, self.error = status, error

    def refuse(self, reason: str) -> None:
        """The answer breaks what the request demanded."""
        self.refused += 1
        log.warning("refused: %s", reason)

    def _began(self, event: Any, choice: int) -> None:
        self.attempted += 1
        self.calls.append(Called(choice, event.index, event.name, event.id, time.time_ns()))

    def _ended(self, event: Any, following: Sequence[Event]) -> None:
        """A call that does not end whole was cut short, unless a notice says at once what else is wrong with it."""
        if event.complete:
            self.completed += 1
        elif not any(isinstance(after, Notice) and after.kind != "truncated" for after in following):
            self.truncated += 1

    def _noticed(self, notice: Any, events: Sequence[Event], place: int) -> None:
        """A call that was tried and never begun has nothing but its notice."""
        self.notices[notice.kind] += 1
        beside = (*events[max(0, place - 1) : place], *events[place + 1 : place + 2])
        if any(isinstance(event, ToolCallEnd) and not event.complete for event in beside):
            return
        if notice.kind in NO_CALL:
            self.attempted += 1
        elif notice.kind == "truncated" and any(isinstance(event, Finish) and event.reason == "length" for event in events):
            self.attempted += 1
            self.truncated += 1
