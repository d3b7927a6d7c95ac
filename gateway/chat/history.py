"""A conversation whose calls and results do not match, made whole: every call is followed by its result, in the calls' order.

Agents leave such histories behind when a call is cancelled. Nothing is dropped: a result nobody asked for becomes user text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Message = Mapping[str, Any]

NO_RESULT = "[no result]"


@dataclass(frozen=True, slots=True)
class Healed:
    """The conversation, and what had to be done to it."""

    messages: tuple[Message, ...]
    warnings: tuple[str, ...] = ()
    faults: tuple["Fault", ...] = ()
    """What was broken, for those who want it refused instead."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is broken in one message of the conversation as it came."""

    index: int
    reason: str


def is_text_of_assistant(message: Message) -> bool:
    """Whether it is a turn that could go on: words of the assistant's, with no call behind them."""
    return message["role"] == "assistant" and not message.get("tool_calls")


def heal(messages: Sequence[Message]) -> Healed:
    """The same conversation with exactly one result per call, right after the message that called."""
    if _is_whole(messages):
        return Healed(tuple(messages))
    history = _History()
    for position, message in enumerate(messages):
        history.read(position, message)
    history.match_early_results()
    faults = sorted(history.faults(), key=lambda fault: fault.index)
    return Healed(tuple(history.whole()), tuple(history.warnings()), tuple(faults))


def _is_whole(messages: Sequence[Message]) -> bool:
    """Whether there is nothing to do, as in nearly every conversation: all calls have ids and objects for arguments, and their
    results stand behind them in the same order."""
    due: list[Any] = []
    for message in messages:
        if message["role"] == "tool":
            if not due or due.pop() != message.get("tool_call_id"):
                return False
        elif due:
            return False
        elif calls := message.get("tool_calls"):
            due = [call.get("id") for call in reversed(calls)]
            if not all(due) or len(set(due)) < len(due):
                return False
            if not all(_is_object((call.get("function") or {}).get("arguments")) for call in calls):
                return False
    return not due


@dataclass(slots=True)
class _Call:
    id: str
    turn: int
    result: Message | None = None


@dataclass(slots=True)
class _History:
    entries: list[Message | list[_Call]] = field(default_factory=list)
    unanswered: dict[str, list[_Call]] = field(default_factory=dict)
    latest: list[_Call] = field(default_factory=list)
    unmatched: list[Message] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    """Where each result stood, by its identity."""
    found: list[Fault] = field(default_factory=list)
    block: int = -1
    """The turn whose results may stand here; -1 after any other message."""

    def read(self, position: int, message: Message) -> None:
        if message["role"] == "tool":
            self.places[id(message)] = position
            self._read_result(message)
            return
        self.block = -1
        if calls := message.get("tool_calls"):
            self._read_calls(position, message, calls)
        else:
            self.entries.append(message)

    def _read_calls(self, turn: int, message: Message, calls: Sequence[Message]) -> None:
        seen: set[str] = set()
        named = []
        for index, call in enumerate(calls):
            call_id = call.get("id")
            if not call_id or call_id in seen:
                call_id = f"call_{turn}_{index}"
            seen.add(call_id)
            if not _is_object((call.get("function") or {}).get("arguments")):
                self.found.append(Fault(turn, f"the arguments of {call_id} are not a JSON object"))
            named.append({**call, "id": call_id})
        self.latest = [_Call(call["id"], turn) for call in named]
        for slot in self.latest:
            self.unanswered.setdefault(slot.id, []).append(slot)
        self.entries += [{**message, "tool_calls": named}, self.latest]
        self.block = turn

    def _read_result(self, message: Message) -> None:
        call = self._asked_for(message)
        if call is None:
            self.entries.append(message)
            self.unmatched.append(message)
            return
        if not message.get("tool_call_id"):
            self._note(message, "a tool result without tool_call_id")
        if call.turn != self.block:
            self.moved.append(call.id)
            self._note(message, f"the result of {call.id} does not follow its call")
        self._answer(call, message)

    def _asked_for(self, result: Message) -> _Call | None:
        """The latest open call with the result's id; without an id, the first open one of the latest turn."""
        if call_id := result.get("tool_call_id"):
            waiting = self.unanswered.get(call_id)
            return waiting[-1] if waiting else None
        return next((call for call in self.latest if call.result is None), None)

    def _answer(self, call: _Call, result: Message) -> None:
        call.result = {**result, "tool_call_id": call.id}
        self.unanswered[call.id].remove(call)

    def match_early_results(self) -> None:
        """Results that stand before their call."""
        for result in self.unmatched:
            if waiting := self.unanswered.get(result.get("tool_call_id") or ""):
                call = waiting[0]
                self._answer(call, result)
                self.moved.append(call.id)
                self._note(result, f"the result of {call.id} stands before its call")
                self.entries = [entry for entry in self.entries if entry is not result]

    def whole(self) -> Iterator[Message]:
        for entry in self.entries:
            if isinstance(entry, list):
                for call in entry:
                    yield call.result or {"role": "tool", "tool_call_id": call.id, "content": NO_RESULT}
            else:
                yield _as_user_text(entry) if entry["role"] == "tool" else entry

    def faults(self) -> Iterator[Fault]:
        yield from self.found
        for entry in self.entries:
            if isinstance(entry, list):
                yield from (Fault(call.turn, f"there is no result for {call.id}") for call in entry if call.result is None)
            elif entry["role"] == "tool":
                yield Fault(self.places[id(entry)], f"a tool result without a call ({entry.get('tool_call_id')})")

    def _note(self, result: Message, reason: str) -> None:
        self.found.append(Fault(self.places[id(result)], reason))

    def warnings(self) -> Iterator[str]:
        missing = [call.id for entry in self.entries if isinstance(entry, list) for call in entry if call.result is None]
        orphans = [
            str(entry.get("tool_call_id")) for entry in self.entries if not isinstance(entry, list) and entry["role"] == "tool"
        ]
        if missing:
            yield f"history: no result for {', '.join(missing)}; an empty one was put in"
        if self.moved:
            yield f"history: results moved to their calls: {', '.join(self.moved)}"
        if orphans:
            yield f"history: results without a call became user text: {', '.join(orphans)}"


def _is_object(arguments: Any) -> bool:
    """Whether a call's arguments are an object, or nothing at all, which is an empty one."""
    if not isinstance(arguments, str):
        return arguments is None or isinstance(arguments, Mapping)
    try:
        return not arguments.strip() or isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _as_user_text(result: Message) -> Message:
    """A result without a call, in a form every chat template can show."""
    heading = "Result of an earlier tool call:\n"
    content = result.get("content") or ""
    if isinstance(content, str):
        return {"role": "user", "content": heading + content}
    return {"role": "user", "content": [{"type": "text", "text": heading}, *content]}
