"""What of a choice may leave, and when.

A call that decoding was not wholly held to, and an answer likewise, waits until it is whole and has been checked: an invalid one
never leaves, not even in part. What the constraint guarantees is passed on as it comes, and checked all the same. Under `retry`
everything waits from the first call that is held to a schema on (under a forced choice, from the beginning), until the turn is
over: only what has not been sent can be asked for again. Under `report` nothing waits.
"""

from typing import Literal

from gateway.chat.plan import Plan
from gateway.errors import AnswerInvalid
from gateway.planning.mend import mended, unfenced
from gateway.planning.schemas import answer_violation
from gateway.telemetry.record import Record
from parsers import ContentDelta, Delta, Event, Finish, Notice, ToolCallArguments, ToolCallEnd, ToolCallStart

from .demand import Demand
from .free_calls import FreeCalls

Policy = Literal["fail", "retry", "report"]
ENDS = (ToolCallEnd, Finish)


class Guard:
    """Stands at the end of one choice."""

    def __init__(self, plan: Plan, record: Record, *, policy: Policy) -> None:
        self.demand = Demand.of(plan)
        self._free = self.demand.free
        self._free_calls = FreeCalls.of(plan, self.demand.held, record)
        self._record = record
        self._policy = policy
        checked = frozenset(self.demand.held)
        self._waits = {"fail": plan.loose & checked, "retry": checked, "report": frozenset()}[policy]
        """The tools whose calls wait."""
        self._answer_waits = self.demand.answer is not None and (policy == "retry" or (policy == "fail" and plan.loose_answer))
        self._waiting: list[Event] | None = [] if policy == "retry" and self.demand.forced else None
        self._begun = False
        """A call has begun: text beside it is no answer."""

    def passed(self, events: list[Event]) -> list[Event]:
        """The events that may leave now. AnswerInvalid: nothing of what waits ever may."""
        if self._free_calls is not None:
            self._free_calls.see(events)
        if self._free:
            for event in events:
                if type(event) is ToolCallEnd and event.complete:
                    self.demand.completed += 1
            return events
        out: list[Event] = []
        for event in events:
            problem = self.demand.broken(event)
            self._hold(event, out)
            line = out if self._waiting is None else self._waiting
            line.append(event)
            if problem is not None:
                self._settle(problem, line)
            elif type(event) in ENDS and self.demand.satisfied_by(event):
                self._record.steps["valid"] += 1
            if self._waiting is not None and self._may_go(event):
                out += self._waiting
                self._waiting = None
        return out

    def spared(self, kind: Delta) -> list[list[str]] | None:
        """Where the text of such deltas is to be added, so that `passed` may be spared them; None where they wait."""
        if self._waiting is not None:
            return None
        free = self._free_calls.fragments if self._free_calls is not None and kind is ToolCallArguments else None
        return [kept for kept in (free, self.demand.kept(kind)) if kept is not None]

    def _hold(self, event: Event, out: list[Event]) -> None:
        """Begin to hold events back where this one must wait."""
        kind = type(event)
        if kind is ToolCallStart:
            self._begun = True
            if self._waiting is not None and self._policy == "fail":
                out += self._waiting
                self._waiting = None
            if self._waiting is None and event.name in self._waits:  # type: ignore[union-attr]
                self._waiting = []
        elif kind is ContentDelta and self._answer_waits and not self._begun and self._waiting is None:
            self._waiting = []

    def _may_go(self, event: Event) -> bool:
        return type(event) is Finish or (self._policy == "fail" and type(event) is ToolCallEnd)

    def _settle(self, problem: AnswerInvalid, line: list[Event]) -> None:
        """Mend what the last event completed, or tell that it is broken."""
        if type(line[-1]) is ToolCallEnd:
            self._record.invalid += 1
        if line is self._waiting and (place := self._mended(line)):
            self._record.steps["repaired"] += 1
            self._note(line, Notice("repaired", f"values given as text were read as JSON at {place}"))
            return
        self._record.refuse(problem.message)
        if self._policy != "report":
            raise problem
        self._record.steps["reported"] += 1
        self._note(line, Notice("malformed", problem.message))

    def _note(self, line: list[Event], notice: Notice) -> None:
        """A notice after the last event; a Finish stays the last."""
        line.insert(len(line) - (type(line[-1]) is Finish), notice)
        self._record.note(notice)

    def _mended(self, line: list[Event]) -> str | None:
        """Put the mended call or answer in the broken one's place; where it was changed."""
        last = line[-1]
        if isinstance(last, ToolCallEnd):
            name, arguments = self.demand.call
            found = mended(arguments, self.demand.held[name].parameters)
            if found is not None:
                start = max(at for at, event in enumerate(line) if type(event) is ToolCallStart)
                line[start + 1 :] = [ToolCallArguments(last.index, found[0]), last]
            return found and f"{found[1]} of '{name}'"
        return self._mended_answer(line) if self.demand.answer is not None and not self.demand.forced else None

    def _mended_answer(self, line: list[Event]) -> str | None:
        wanted, text = self.demand.answer, self.demand.content
        assert wanted is not None
        inner = unfenced(text)
        if inner is not None and answer_violation(inner, wanted.schema) is None:
            found: tuple[str, str] | None = (inner, "the fence around the answer")
        else:
            found = mended(text if inner is None else inner, wanted.schema or {})
        if found is None:
            return None
        first = next(at for at, event in enumerate(line) if type(event) is ContentDelta)
        line[:] = [event for event in line if type(event) is not ContentDelta]
        line.insert(first, ContentDelta(found[0]))
        return found[1]
