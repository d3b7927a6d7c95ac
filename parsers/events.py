"""What a turn consists of: parsed facts, in the order the model wrote them.

Order law: `(Reasoning | Content | Start Arguments* End)* Finish`, call indices 0, 1, 2 ...; a `Notice` may stand anywhere
before `Finish`. The dataclasses are not frozen: building a frozen one costs three times as much, and one is built per delta.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

NoticeKind = Literal["malformed", "truncated", "undeclared", "repaired", "dialect", "literal_marker"]


@dataclass(slots=True)
class ContentDelta:
    """New text for the user."""

    text: str


@dataclass(slots=True)
class ReasoningDelta:
    """New thinking text."""

    text: str


@dataclass(slots=True)
class ToolCallStart:
    """A call begins; its name is whole. `id` is the model's own id for it, if the format has one."""

    index: int
    name: str
    id: str | None = None


@dataclass(slots=True)
class ToolCallArguments:
    """JSON text. The fragments of one call join to one JSON object (`{}` when there are none)."""

    index: int
    fragment: str


@dataclass(slots=True)
class ToolCallEnd:
    """The call is over. `complete` is False when the turn ended inside it. `id`: the model's own id, where it stood behind the
    arguments."""

    index: int
    complete: bool = True
    id: str | None = None


@dataclass(slots=True)
class Notice:
    """Something the operator should know about the turn; never text for the user."""

    kind: NoticeKind
    detail: str


@dataclass(slots=True)
class Finish:
    """The turn is over.

    `reason` is `tool_calls` when the engine stopped by itself after at least one whole call, `length` when a call was cut
    short or the engine ran out of tokens, else what the engine said.
    """

    reason: str


Event = ContentDelta | ReasoningDelta | ToolCallStart | ToolCallArguments | ToolCallEnd | Notice | Finish


def normal(events: Iterable[Event]) -> list[Event]:
    """The same facts with neighbouring deltas merged, for comparing event lists made by different cuttings of one text."""
    merged: list[Event] = []
    for event in events:
        last = merged[-1] if merged else None
        match last, event:
            case (ContentDelta(a), ContentDelta(b)):
                merged[-1] = ContentDelta(a + b)
            case (ReasoningDelta(a), ReasoningDelta(b)):
                merged[-1] = ReasoningDelta(a + b)
            case (ToolCallArguments(i, a), ToolCallArguments(_, b)):
                merged[-1] = ToolCallArguments(i, a + b)
            case _:
                merged.append(event)
    return merged
