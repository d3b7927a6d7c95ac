"""Text in, events out: the lenient reading of a description, incremental and indifferent to how the text is cut.

Framing is *held* until it is known to be framing: from the first marker of a call until its name is whole, declared and followed
by arguments. What turns out not to be a call is given back byte for byte as the text it was. A call inside open reasoning, and
a call that no marker announces, are *drafts*: believed only once the turn ends behind them.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from .automaton import Position, compile_turn
from .description import Format, Marker, Messages, Node
from .events import (
    ContentDelta,
    Event,
    Finish,
    Notice,
    NoticeKind,
    ReasoningDelta,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from .message import Tool, Tools
from .readers import Reader, reader_of
from .readers.boundary import space_end
from .readers.frame import FrameReader
from .readers.opening import begin_behind, without_unsaid
from .readers.text import TextReader

Channel = Literal["content", "reasoning"]
_DRAFT_LIMIT = 4
"""Drafts per turn that may turn out to be text; after that markup in reasoning is reasoning. Keeps the parser linear."""


@lru_cache(maxsize=256)
def compiled(turn: Node) -> Position:
    """The start position of a turn, compiled once."""
    return compile_turn(turn)


@dataclass(slots=True)
class _Draft:
    """Where a draft began, and what has happened since."""

    home: TextReader
    marker: str
    index: int
    completed: int
    truncated: bool
    content: int
    wrote_content: bool
    space: list[str]
    raw: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def forget(self) -> None:
        """All of it so far was the prompt's: none of it will be given back."""
        self.marker, self.index, self.completed, self.content, self.truncated = "", -1, 0, 0, False
        self.space, self.raw = [], []


class Parser:
    """Reads one turn of one format.

    `tools` are those a call may name: Tool or OpenAI's shape; None = not known, any name is a call and untyped values stay
    strings; empty = none, so nothing is a call. `opening` is what the prompt already wrote of the turn; of its events
    only those of a call that it leaves open are told.
    """

    def __init__(self, fmt: Format, *, tools: Tools = None, opening: str = "") -> None:
        self.format = fmt
        declared = None if tools is None else [Tool.of(tool) for tool in tools]
        self.tools: dict[str, Tool] | None = None if declared is None else {tool.name: tool for tool in declared}
        self.buffer = ""
        self.at = 0
        self.out: list[Event] = []
        self.events: list[Event] = self.out
        self.index = -1
        self.completed = 0
        self.name: str | None = None
        self.call_id: str | None = None
        self.tool: Tool | None = None
        self.call_open = False
        self.muted = False
        self.muted_tail = False
        self.held: list[str] | None = None
        self.draft: _Draft | None = None
        self.drafts_left = _DRAFT_LIMIT
        self.has_messages = isinstance(fmt.turn, Messages)
        self.no_calls = self.tools == {} and not self.has_messages
        self.between: list[str] = []
        self.lead = ""
        self.unsaid = 0
        """Characters that the prompt wrote and nothing has read yet."""
        self.content: list[str] = []
        self.wrote_content = False
        self.announced = False
        """A marker longer than a bracket began the latest call."""
        self.framed = False
        self.truncated = False
        self.reason = ""
        self.home: TextReader | None = None
        self.position = compiled(fmt.turn)
        self.reader: Reader = self._reader_behind(self.position)
        if opening:
            begin_behind(self, opening)

    # ---- the face
    def feed(self, text: str) -> list[Event]:
        """The events that this text completes."""
        self.buffer = self.buffer[self.at :] + text if self.at < len(self.buffer) else text
        self.at = 0
        while self.at < len(self.buffer) and self.reader.read(self):
            pass
        return self._take()

    def finish(self, reason: str = "stop") -> list[Event]:
        """The events that the end of the turn completes; the last one is Finish. `reason` is why the engine stopped."""
        self.reason = reason
        while True:
            while self.at < len(self.buffer) and self.reader.read(self):
                pass
            reader = self.reader
            may_end = reader.finish(self)
            if self.at < len(self.buffer) or self.reader is not reader:
                continue
            if self.draft is not None and (
                not may_end or self.name is not None or (self.call_open and not self.position.accepting)
            ):
                self.abandon_draft()
                continue
            break
        self._end_turn(may_end=may_end)
        return self._take()

    def _take(self) -> list[Event]:
        events = self.out
        self.out = []
        if self.draft is None:
            self.events = self.out
        return events

    # ---- what readers consume
    def skip(self, end: int) -> None:
        """Consume up to `end` as framing."""
        raw = self.buffer[self.at : end]
        self.at = end
        if not raw:
            return
        if self.draft is not None:
            self.draft.raw.append(raw)
        if self.muted:
            self.emit_text(self._home_channel(), raw)
        elif self.held is not None:
            self.held.append(raw)

    def skip_space(self) -> bool:
        """Consume white space as framing; whether more text stands behind it."""
        end = space_end(self.buffer, self.at)
        if end > self.at:
            self.skip(end)
        return self.at < len(self.buffer)

    def drop(self, end: int) -> None:
        """Consume up to `end` as what is never given back: the text of a token that ends the turn."""
        if self.draft is not None:
            self.draft.raw.append(self.buffer[self.at : end])
        self.at = end

    def pass_text(self, channel: Channel, end: int) -> None:
        """Consume up to `end` as text of a channel."""
        raw = self.buffer[self.at : end]
        self.at = end
        if self.draft is not None:
            self.draft.raw.append(raw)
        self.emit_text(channel, raw)

    def emit_text(self, channel: Channel, text: str) -> None:
        """Text of a channel, already consumed."""
        if not text:
            return
        if channel == "content":
            if self.between:
                text = "".join(self.between) + text
                self.between.clear()
            self.wrote_content = True
            self.content.append(text)
            self.events.append(ContentDelta(text))
        else:
            self.events.append(ReasoningDelta(text))

    def notice(self, kind: NoticeKind, detail: str) -> None:
        """Something the operator should know. Repairs of what becomes text anyway are none."""
        if self.muted and kind == "repaired":
            return
        self.events.append(Notice(kind, detail))

    # ---- framing
    def hold(self, space: list[str] | None = None) -> None:
        """What is skipped from here on, and the `space` before it, is given back if it turns out to be no framing."""
        if self.held is None and not self.call_open:
            self.held = space or []

    def give_back(self) -> None:
        """Turn what was held into text of the channel it was found in."""
        held = without_unsaid(self, "".join(self.held or ()))
        self.held = None
        if held:
            self.emit_text(self._home_channel(), held)

    def _forget_unsaid(self) -> None:
        """What the prompt wrote was framing: it will not be given back, unless a draft began before it."""
        if self.draft is None:
            self.unsaid = 0

    def _home_channel(self) -> Channel:
        """The channel that a call stands in, for what turns out to be text."""
        return self.home.channel if self.home is not None else "content"

    def begin_draft(self, home: TextReader, marker: str, space: list[str]) -> None:
        """From here on nothing is given out until the turn ends behind the call, or shows that it was none."""
        if self.draft is None:
            counts = (self.index, self.completed, self.truncated, len(self.content))
            self.draft = _Draft(home, marker, *counts, self.wrote_content, list(space))
            self.events = self.draft.events

    def abandon_draft(self) -> None:
        """The draft was text: go back to where it began, and read its marker as text."""
        draft = self.draft
        assert draft is not None
        self.draft = None
        self.drafts_left -= 1
        self.events = self.out
        raw = without_unsaid(self, "".join(draft.raw))
        self.buffer = raw + self.buffer[self.at :]
        self.at = 0
        self.index, self.completed, self.truncated = draft.index, draft.completed, draft.truncated
        self.wrote_content = draft.wrote_content
        del self.content[draft.content :]
        self.call_open = self.muted = self.muted_tail = False
        self.held = self.tool = self.name = self.call_id = None
        self.reader = self.home = draft.home
        self.position = draft.home.position
        draft.home.resume(len(draft.marker), draft.space)

    # ---- moves
    def go(self, position: Position) -> None:
        """The leaf of `position` is read; what comes next?"""
        if not self._leave_call(position):
            return
        twice = position is self.position and isinstance(position.leaf, Marker)
        self.position = position
        if position.closes_scope and not self._end_call():
            return
        if isinstance(position.leaf, Marker) and position.leaf.repairs:
            self.notice("repaired", position.leaf.repairs)
        if twice:
            self.notice("repaired", "a marker written twice")
        self.reader = self._reader_behind(position)

    def enter(self, position: Position) -> None:
        """The region of `position` begins here."""
        if self._leave_call(position):
            self.position = position
            self.reader = reader_of(position)

    def _leave_call(self, target: Position) -> bool:
        """Going to `target`: does that end the call we are in? False: it was a draft, and we are elsewhere now."""
        if target is self.position:
            return True
        if self.position.scope and (target.scope != self.position.scope or target.opens_scope):
            return self._end_call()
        return True

    def _end_call(self) -> bool:
        """The call is over; one that had a name and no arguments was a call all the same."""
        if not self.call_open and self.name is not None and not self.open_call(self.name, self.call_id):
            return False
        if self.call_open:
            self.close_call()
        return True

    def _reader_behind(self, position: Position) -> Reader:
        if position.text is None:
            return FrameReader(position)
        if self.muted_tail:
            self.give_back()
        self.held = None
        self._forget_unsaid()
        self.home = TextReader(position)
        return self.home

    def reject(self, kind: NoticeKind, detail: str) -> None:
        """What stands here is not what the description allows: an unopened call becomes text again, an open one ends broken."""
        if self.draft is not None:
            self.abandon_draft()
            return
        home = self.home
        assert home is not None  # every format begins with text
        literal = 0
        marked = self.call_open or len("".join(self.held or ()).strip()) > 1
        if self.call_open:
            self.close_call(complete=False)
        elif self.held:
            self.give_back()
        else:
            literal = 1
        if marked and (kind != "literal_marker" or home.channel == "content"):
            self.notice(kind, detail)  # a lone bracket is prose, not a marker
        self.held = self.name = self.call_id = None
        self.muted_tail = False
        self.reader, self.position = home, home.position
        home.resume(literal, [])

    # ---- calls
    def declared(self, name: str) -> str | None:
        """The declared tool that a name as the model wrote it means; None when there is none."""
        if self.tools is None or name in self.tools:
            return name
        bare = name.strip().strip("\"'`")
        return bare if bare in self.tools else None

    def open_call(self, name: str, call_id: str | None = None) -> bool:
        """A call is certain: its name is whole and arguments follow. An undeclared one becomes text, to its end.

        False: it was part of a draft that is now text; the reader that asked is no longer the current one.
        """
        known = self.declared(name)
        self.name = self.call_id = None
        if known is None and self.draft is not None:
            self.abandon_draft()
            return False
        unknown = f"the model called {name!r}, which is not among the tools of the request"
        if known is None and self.home is not None and self.home.channel == "reasoning":
            self.notice("undeclared", unknown)
            self.reject("literal_marker", unknown)
            return False
        self.call_open = True
        if known is None:
            self.notice("undeclared", unknown)
            self.give_back()
            self.muted = True
            return True
        self.held = None
        self.muted_tail = False
        self._forget_unsaid()
        if self.lead and self.draft is None:  # white space before the call is content if more content follows
            self.between.append(self.lead)
            self.lead = ""
        self.index += 1
        self.tool = self.tools[known] if self.tools is not None else None
        self.events.append(ToolCallStart(self.index, known, call_id))
        return True

    def arguments(self, fragment: str) -> None:
        """JSON text of the open call's arguments."""
        if fragment and not self.muted:
            self.events.append(ToolCallArguments(self.index, fragment))

    def close_call(self, *, complete: bool = True) -> None:
        """The open call is over."""
        self.call_open = False
        self.framed = True
        if self.muted:
            self.muted = False
            self.muted_tail = True
            self.held = []
            return
        self.tool = None
        self.events.append(ToolCallEnd(self.index, complete, self.call_id))
        self.call_id = None
        if complete:
            self.completed += 1
        else:
            self.truncated = True

    # ---- the end
    def _end_turn(self, *, may_end: bool) -> None:
        if self.call_open:
            complete = may_end and self.position.accepting
            if not complete and not self.muted:
                self.notice("truncated", "the turn ended inside a call")
            self.close_call(complete=complete)
        if self.muted_tail:
            self.give_back()
        elif self.held and not (may_end and self.position.accepting and self.name is None):
            self.notice("truncated", "the turn ended before a call's name and arguments were there")
            self.give_back()
        if self.draft is not None:
            self.out.extend(self.draft.events)
            self.events, self.draft = self.out, None
        self.events.extend(self.closing_notices())
        self.events.append(Finish(self._finish_reason()))

    def closing_notices(self) -> list[Notice]:
        """What is to be said of the turn as a whole."""
        return []

    def _finish_reason(self) -> str:
        if self.truncated:
            return "length"
        if self.reason == "stop" and self.completed:
            return "tool_calls"
        return self.reason
