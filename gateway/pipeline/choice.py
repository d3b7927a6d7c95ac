"""One choice of a turn: its parser, the demand on it, and where it ends."""

import logging

from gateway.chat.events import Piece
from gateway.chat.plan import Plan
from gateway.telemetry.observer import Record
from parsers import Event, Finish, Notice, Parser, ReasoningDelta, ToolCallStart

from .demand import Demand

SECOND_CALL = "generation was ended where a second call began, because only one was asked for"
log = logging.getLogger(__name__)


class Choice:
    """Pieces in, events out. `done` once its Finish is out, `cut` when that was our doing."""

    def __init__(self, plan: Plan, record: Record, *, report_only: bool) -> None:
        self.done = False
        self.cut = False
        self.tokens = 0
        self.reasoning_tokens = 0
        self._parser = Parser(plan.format, tools=plan.tools, opening=plan.prompt.opening, prompt_known=True)
        self._demand = Demand.of(plan)
        self._single = bool(plan.tools) and (plan.request.tool_choice.mode == "named" or not plan.request.parallel_tool_calls)
        self._record = record
        self._report_only = report_only

    def take(self, piece: Piece) -> list[Event]:
        """The events this piece gives; BackendError when they break what the request demanded."""
        events = self._parser.feed(piece.text) if piece.text else []
        if piece.finish_reason is not None:
            events += self._parser.finish(piece.finish_reason)
            self.done = True
        self._count_tokens(piece, events)
        if self._single:
            events = self._ended_at_second_call(events)
        if events:
            self._record.count(events)
            events = self._held(events)
        return events

    def _count_tokens(self, piece: Piece, events: list[Event]) -> None:
        tokens = (1 if piece.text else 0) if piece.token_ids is None else len(piece.token_ids)
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
        return self._demand.completed > 0 or any(getattr(event, "complete", False) for event in events)

    def _held(self, events: list[Event]) -> list[Event]:
        """The same events, with what breaks the demand raised or noted."""
        noted: list[Event] | None = None
        for place, event in enumerate(events):
            problem = self._demand.broken(event)
            if problem is None:
                if noted is not None:
                    noted.append(event)
                continue
            self._record.refused += 1
            log.warning("refused: %s", problem)
            if not self._report_only:
                raise problem
            notice = Notice("malformed", problem.message)
            noted = list(events[:place]) if noted is None else noted
            # a Finish is the last of all events
            noted += [notice, event] if type(event) is Finish else [event, notice]
            self._record.count([notice])
        return events if noted is None else noted
