"""Events back to one message: the non-streamed answer is the folded stream."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from .events import (
    ContentDelta,
    Event,
    Finish,
    Notice,
    ReasoningDelta,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from .message import Message, ToolCall


@dataclass(slots=True)
class _OpenCall:
    start: ToolCallStart
    fragments: list[str] = field(default_factory=list)
    complete: bool = False
    late_id: str | None = None

    def closed(self) -> ToolCall:
        arguments = "".join(self.fragments)
        if self.complete and not arguments:
            arguments = "{}"
        return ToolCall(self.start.name, arguments, self.start.id or self.late_id, self.complete)


def fold(events: Iterable[Event]) -> Message:
    """The message that these events describe. Text that never came is None, not empty."""
    content: list[str] = []
    reasoning: list[str] = []
    calls: list[_OpenCall] = []
    notices: list[Notice] = []
    for event in events:
        match event:
            case ContentDelta(text):
                content.append(text)
            case ReasoningDelta(text):
                reasoning.append(text)
            case ToolCallStart():
                calls.append(_OpenCall(event))
            case ToolCallArguments(index, fragment):
                calls[index].fragments.append(fragment)
            case ToolCallEnd(index, complete, late_id):
                calls[index].complete, calls[index].late_id = complete, late_id
            case Notice():
                notices.append(event)
            case Finish():
                pass
            case _:
                assert_never(event)
    return Message(
        content="".join(content) or None,
        reasoning="".join(reasoning) or None,
        tool_calls=tuple(call.closed() for call in calls),
        notices=tuple(notices),
    )
