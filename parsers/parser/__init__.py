"""Text in, events out: the lenient reading of a description, incremental and indifferent to how the text is cut.

Framing is *held* until it is known to be framing: from the first marker of a call until its name is whole, declared and followed
by arguments. What turns out not to be a call is given back byte for byte as the text it was. A call inside open reasoning, and
a call that no marker announces, are *drafts*: believed only once the turn ends behind them.

A parser is a place in the text and in the description; its `output`, `calls`, `framing` and `drafts` are all else it knows.
"""

from functools import lru_cache

from ..automaton import Position, compile_turn
from ..description import Format, Marker, Messages
from ..events import Event, Notice, NoticeKind
from ..message import Tools
from ..passage import Passage
from ..readers import Reader, reader_of
from ..readers.boundary import space_end
from ..readers.frame import FrameReader
from ..readers.strays import Channel
from ..readers.text import TextReader
from .calls import Calls
from .drafts import Drafts
from .ending import breaks_draft, end_turn
from .framing import Framing
from .opening import begin_behind
from .output import Output


@lru_cache(maxsize=256)
def compiled(fmt: Format) -> Position:
    """The start position of a format's turn, compiled once."""
    return compile_turn(fmt.turn)


class Parser:
    """Reads one turn of one format.

    `tools` are those a call may name: Tool or OpenAI's shape; None = not known, any name is a call and untyped values stay
    strings; empty = none, so nothing is a call. `opening` is what the prompt already wrote of the turn; of its events
    only those of a call that it leaves open are told.
    """

    def __init__(self, fmt: Format, *, tools: Tools = None, opening: str = "") -> None:
        self.format = fmt
        self.buffer = ""
        self.at = 0
        self.unsaid = 0
        """Characters that the prompt wrote and nothing has read yet."""
        self.output = Output()
        self.calls = Calls(tools, self.output)
        self.framing = Framing()
        self.drafts = Drafts(self.calls, self.output)
        self.has_messages = isinstance(fmt.turn, Messages)
        self.no_calls = self.calls.tools == {} and not self.has_messages
        self.reason = ""
        """Why the engine stopped, once it has."""
        self.home: TextReader | None = None
        """The text that the latest call stands in."""
        self.position = compiled(fmt)
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
        return self.output.take()

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
            if not breaks_draft(self, may_end=may_end):
                break
            self.abandon_draft()
        end_turn(self, may_end=may_end)
        return self.output.take()

    def passage(self) -> Passage | None:
        """Which texts need not be fed next, because they pass as they are written. Where they are content they are to be added to
        `content`. It holds until something else is fed."""
        if self.at < len(self.buffer) or self.unsaid or self.calls.muted:
            return None
        return None if self.drafts.open is not None or self.framing.held is not None else self.reader.passage(self)

    @property
    def content(self) -> list[str]:
        """The content so far, in pieces."""
        return self.output.content

    def closing_notices(self) -> list[Notice]:
        """What is to be said of the turn as a whole."""
        return []

    # ---- what readers consume
    def skip(self, end: int) -> None:
        """Consume up to `end` as framing."""
        start, self.at = self.at, end
        if start == end:
            return
        if self.drafts.open is not None:
            self.drafts.open.raw.append(self.buffer[start:end])
        if self.calls.muted:
            self.output.text(self._home_channel(), self.buffer[start:end])
        elif self.framing.held is not None:
            self.framing.held.append(self.buffer[start:end])

    def skip_space(self) -> bool:
        """Consume white space as framing; whether more text stands behind it."""
        end = space_end(self.buffer, self.at)
        if end > self.at:
            self.skip(end)
        return self.at < len(self.buffer)

    def drop(self, end: int) -> None:
        """Consume up to `end` as what is never given back: the text of a token that ends the turn."""
        if self.drafts.open is not None:
            self.drafts.open.raw.append(self.buffer[self.at : end])
        self.at = end

    def pass_text(self, channel: Channel, end: int) -> None:
        """Consume up to `end` as text of a channel."""
        start = self.at
        self.drop(end)
        self.output.text(channel, self.buffer[start:end])

    def notice(self, kind: NoticeKind, detail: str) -> None:
        """Something the operator should know. Repairs of what becomes text anyway are none."""
        if not (self.calls.muted and kind == "repaired"):
            self.output.notice(kind, detail)

    # ---- what was read as framing, and is text
    def hold(self, space: list[str] | None = None) -> None:
        """What is skipped from here on, and the `space` before it, is given back if it turns out to be no framing."""
        if not self.calls.open:
            self.framing.hold(space)

    def give_back(self) -> None:
        """Turn what was held into text of the channel it was found in."""
        self.output.text(self._home_channel(), self._without_unsaid(self.framing.take()))

    def abandon_draft(self) -> None:
        """The draft was text: go back to where it began, and read its marker as text."""
        draft = self.drafts.open
        assert draft is not None
        self.drafts.abandon(draft)
        self.buffer = self._without_unsaid("".join(draft.raw)) + self.buffer[self.at :]
        self.at = 0
        self._go_home(draft.home, len(draft.marker), draft.space)

    def reject(self, kind: NoticeKind, detail: str) -> None:
        """What stands here is not what the description allows: an unopened call becomes text again, an open one ends broken."""
        if self.drafts.open is not None:
            self.abandon_draft()
            return
        home = self.home
        assert home is not None  # every format begins with text
        literal = 0
        marked = self.calls.open or self.framing.holds_marker()
        self.framing.returned = self.framing.returned or marked
        if self.calls.open:
            self.close_call(complete=False)
        elif self.framing.held or self.unsaid:
            self.give_back()
        else:
            literal = 1
        if marked and (kind != "literal_marker" or home.channel == "content"):
            self.notice(kind, detail)  # a lone bracket is prose, not a marker
        self.calls.name = self.calls.id = None
        self._go_home(home, literal, [])

    def _go_home(self, home: TextReader, literal: int, space: list[str]) -> None:
        """Go on in the text that a call seemed to stand in; its next `literal` characters are text."""
        self.framing.settle()
        self.framing.behind_muted = False
        self.reader, self.home, self.position = home, home, home.position
        home.resume(literal, space)

    def _without_unsaid(self, text: str) -> str:
        """Text that is given back, without the prompt's part of it, which may go on in the buffer."""
        unsaid, self.unsaid = self.unsaid, 0
        self.at += max(0, unsaid - len(text))
        return text[unsaid:]

    def _settle(self) -> None:
        """What was held was framing. The prompt's part of it will not be given back, unless a draft began before it."""
        self.framing.settle()
        if self.drafts.open is None:
            self.unsaid = 0

    def _home_channel(self) -> Channel:
        """The channel that a call stands in, for what turns out to be text."""
        return self.home.channel if self.home is not None else "content"

    # ---- moves
    def go(self, position: Position) -> None:
        """The leaf of `position` is read; what comes next?"""
        if not self._leave_call(position):
            return
        twice = position is self.position and isinstance(position.leaf, Marker)
        self.position = position
        if position.closes_scope and not self._end_call():
            return
        slip = position.leaf.repairs if isinstance(position.leaf, Marker) else ""
        if slip or twice:
            self.notice("repaired", slip or "a marker written twice")
        self.reader = self._reader_behind(position)

    def pass_marker(self, target: Position, end: int) -> None:
        """The marker of `target` stands here, up to `end`. A call that it leaves ends before it: the marker is not the call's."""
        if self._leave_call(target):
            self.hold()
            self.skip(end)
            self.go(target)

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

    def _reader_behind(self, position: Position) -> Reader:
        if position.text is None:
            return FrameReader(position)
        if self.framing.behind_muted:
            self.give_back()
        self._settle()
        self.home = TextReader(position)
        return self.home

    # ---- calls
    def in_call(self) -> bool:
        """A call is certain: open it by the name that was read, unless it is open. False: as `open_call`."""
        return self.calls.open or self.open_call(self.calls.name or "")

    def open_call(self, name: str) -> bool:
        """A call is certain: its name is whole and arguments follow. An undeclared one becomes text, to its end.

        False: it was part of a draft that is now text; the reader that asked is no longer the current one.
        """
        calls = self.calls
        call_id = calls.id
        known = calls.declared(name)
        calls.name = calls.id = None
        if known is None:
            return self.open_as_text("undeclared", f"the model called {name!r}, which is not among the tools of the request")
        self._settle()
        self.framing.behind_muted = False
        if self.drafts.open is None:
            self.output.keep_lead()
        calls.start(known, call_id)
        return True

    def open_as_text(self, kind: NoticeKind, detail: str) -> bool:
        """What stands here is no call, though others may follow: it is text, to its end. False: as `open_call`."""
        if self.drafts.open is not None:
            self.abandon_draft()
            return False
        self.notice(kind, detail)
        if self._home_channel() == "reasoning":
            self.reject("literal_marker", detail)
            return False
        self.calls.mute()
        self.give_back()
        return True

    def close_call(self, *, complete: bool = True) -> None:
        """The open call is over."""
        if self.calls.muted:
            self.framing.hold_behind_muted()
        self.framing.seen = True
        self.calls.end(complete=complete)

    def _end_call(self) -> bool:
        """The call is over; one that had a name and no arguments was a call all the same."""
        if not self.calls.open and self.calls.name is not None and not self.open_call(self.calls.name):
            return False
        if self.calls.open:
            self.close_call()
        return True
