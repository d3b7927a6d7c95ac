"""One choice of a turn: its parser, the guard at its end, and where it is cut."""

import logging
from collections.abc import Callable, Sequence
from functools import partial

from gateway.chat.events import Piece, TokenLogprob
from gateway.chat.plan import Plan
from gateway.errors import AnswerInvalid
from gateway.telemetry.record import Record
from parsers import (
    ContentDelta,
    Delta,
    Event,
    Finish,
    Message,
    Notice,
    Parser,
    Passage,
    ReasoningDelta,
    ToolCallArguments,
    ToolCallStart,
    fold,
)

from .decline import Decline
from .guard import Guard, Policy

DELTAS = frozenset({ContentDelta, ReasoningDelta, ToolCallArguments})
SECOND_CALL = "generation was ended where a second call began, because only one was asked for"
log = logging.getLogger(__name__)


class Choice:
    """Pieces in, events out. `done` once its Finish is out, `cut` when that was our doing."""

    def __init__(self, plan: Plan, record: Record, *, policy: Policy, place: int = 0) -> None:
        self.done = False
        self.cut = False
        self.finish = ""
        """How it ended, once it has."""
        self.tokens = 0
        self.reasoning_tokens = 0
        self._parser = Parser(plan.format, tools=plan.tools, opening=plan.prompt.opening, prompt_known=True)
        self._guard = Guard(plan, record, policy=policy)
        self._decline = Decline(plan.hidden) if plan.hidden is not None else None
        self._single = bool(plan.tools) and (plan.request.tool_choice.mode == "named" or not plan.request.parallel_tool_calls)
        self._record = record
        self._place = place
        self._retries = policy == "retry"
        self._seen: list[Event] | None = [] if self._retries or record.keeps else None
        self._logprobs: list[TokenLogprob] = []
        """Those of tokens whose events wait."""
        self._raw: list[str] | None = [] if log.isEnabledFor(logging.DEBUG) else None
        self._plain = self._decline is None and self._seen is None
        """A lone delta concerns nobody but the guard."""

    def take(self, piece: Piece) -> list[Event]:
        """The events of which the client may know now; AnswerInvalid when the turn breaks what the request demanded."""
        if self._raw is not None:
            self._raw.append(piece.text)
        events = self._parser.feed(piece.text) if piece.text else []
        if piece.finish_reason is not None:
            events += self._parser.finish(piece.finish_reason)
            self.done = True
        self._count_tokens(piece, events)
        if self._plain and len(events) == 1 and type(events[0]) in DELTAS:
            if self._record.first is None:
                self._record.begun()
            return self._guard.passed(events)
        if self._single:
            events = self._ended_at_second_call(events)
        if self._decline is not None:
            events = self._without_hidden(events, self._decline)
        return self._guarded(events) if events else events

    def passage(self) -> Passage | None:
        """What need not be given to `take` next, but only counted and kept; see Parser.passage."""
        may = self._plain and not self.done and self._raw is None and self._record.first is not None
        return self._parser.passage() if may else None

    def spared(self, kind: Delta) -> list[list[str]] | None:
        """Where the text of such deltas is to be added if `take` is spared them; None where it must have them."""
        kept = self._guard.spared(kind)
        return [*kept, self._parser.content] if kept is not None and kind is ContentDelta else kept

    def making(self, kind: Delta) -> Callable[[str], Event]:
        """What makes such a delta of its text, as the parser would."""
        return partial(ToolCallArguments, self._parser.calls.index) if kind is ToolCallArguments else kind

    def logprobs(self, piece: Piece, events: list[Event]) -> Sequence[TokenLogprob] | None:
        """The log probabilities that leave with a piece's events. Those of an attempt that is given up do not."""
        if not self._retries:
            return piece.logprobs
        self._logprobs += piece.logprobs or ()
        if not events:
            return None
        leaving, self._logprobs = self._logprobs, []
        return leaving or None

    def answer(self) -> Message:
        """The turn so far, also what was held back; kept where it may be asked for again."""
        return fold(self._seen or ())

    def _guarded(self, events: list[Event]) -> list[Event]:
        self._record.count(events, self._place)
        if type(events[-1]) is Finish:
            self.finish = events[-1].reason
        if self._seen is not None:
            self._seen += events
        try:
            return self._guard.passed(events)
        except AnswerInvalid:
            if self._raw is not None:
                log.debug("refused turn: %r", "".join(self._raw))
            raise

    def _without_hidden(self, events: list[Event], decline: Decline) -> list[Event]:
        seen = decline.without(events)
        if decline.declined and not self._guard.demand.excused:
            self._guard.demand.excused = True
            self._record.steps["declined"] += 1
        return seen

    def _count_tokens(self, piece: Piece, events: list[Event]) -> None:
        tokens = (piece.tokens if piece.text else 0) if piece.token_ids is None else len(piece.token_ids)
        self.tokens += tokens
        if events and type(events[0]) is ReasoningDelta:
            self.reasoning_tokens += tokens

    def _ended_at_second_call(self, events: list[Event]) -> list[Event]:
        for place, event in enumerate(events):
            if type(event) is ToolCallStart and event.index > 0:
                self.done = self.cut = True
                reason = "tool_calls" if self._completed_before(events[:place]) else "stop"
                return [*events[:place], Notice("truncated", SECOND_CALL), Finish(reason)]
        return events

    def _completed_before(self, events: list[Event]) -> bool:
        return self._guard.demand.completed > 0 or any(getattr(event, "complete", False) for event in events)
