"""Free text: everything up to the next marker that may follow.

Whitespace beside framing is framing: at the end of the text so far it is held, given out when text follows, dropped before a
marker. At the beginning it is dropped behind a marker as long as the turn has no content yet. In a turn made of messages white
space beside content belongs to the content; between two messages it is given out once more content follows. A marker that can
only open the turn (`<think>`) is looked for until the first text.
"""

import re
from typing import TYPE_CHECKING

from ..automaton import Position
from ..events import ContentDelta, ReasoningDelta
from ..passage import Passage, free_text
from .boundary import boundary, whole
from .cut_off import cut_off, skip_cut_off
from .empty_block import empty_block
from .name_first import NameFirst, name_first
from .reader import Reader
from .strays import Channel, call_tokens, meaningless, strays
from .text_table import TextTable

if TYPE_CHECKING:
    from ..parser import Parser

_PLAIN_TAG = re.compile(r"</?[a-z:]+>")
"""A marker that prose may speak of, such as `</think>`; one with other signs in it is a control token."""


class TextReader(Reader):
    """Reads one stretch of free text."""

    __slots__ = (
        "_ended",
        "_literal",
        "_passage",
        "_pattern",
        "_says",
        "_space",
        "_table",
        "_watched",
        "_wrote",
        "channel",
        "position",
    )

    def __init__(self, before: Position) -> None:
        self._says = before.says
        self._use(TextTable(before))
        self.position = self._table.position
        self.channel: Channel = self._table.channel
        self._space: list[str] = []
        self._ended: int | None = None
        self._wrote = False
        self._literal = 0

    def _use(self, table: TextTable) -> None:
        self._table = table
        self._watched: tuple[str, ...] = ()
        self._pattern: re.Pattern[str] | None = None
        self._passage: Passage | None = None

    def resume(self, literal: int, space: list[str]) -> None:
        """Go on with this text after what looked like framing: the next `literal` characters are text."""
        self._use(TextTable(self.position))
        self._space = space
        self._literal = literal
        self._wrote = self._wrote or not literal

    def forget(self, parser: "Parser") -> bool:
        """All so far was the prompt's: its white space, and the beginning of a marker with none in it. Whether it was content."""
        rest = parser.buffer[parser.at :]
        if rest.strip() and not rest.startswith(tuple(self._table.markers)):
            parser.at = len(parser.buffer)
            self.resume(0, [])
        self._space = []
        return self._wrote and self.channel == "content"

    # ---- the reader's contract
    def read(self, parser: "Parser") -> bool:
        if self._literal:
            return self._pass_literal(parser)
        if not self._wrote and self._table.names and parser.calls.tools and not parser.has_messages:
            called = name_first(parser.buffer, parser.at, parser.calls.tools, self._table.names, at_end=bool(parser.reason))
            if called is not False:
                return called is not None and self._call(parser, called)
        match = (self._pattern or self._compile(parser)).search(parser.buffer, parser.at)
        if match is None:
            self._pass(parser, len(parser.buffer))
            return False
        if match.start() > parser.at:
            self._pass(parser, match.start())
            return True
        marker: str | None = match.group(1)
        if marker is None:  # cut off: it may become a marker
            return False
        return self._at_marker(parser, marker)

    def finish(self, parser: "Parser") -> bool:
        while parser.at < len(parser.buffer) and parser.reader is self:
            if self._pattern is None:
                self._compile(parser)
            match = whole(self._watched).search(parser.buffer, parser.at)
            if match is not None and match.start() == parser.at:
                self._at_marker(parser, match.group(1))
            elif match is not None or not (parser.has_messages or self._behind_call(parser)):
                self._pass(parser, match.start() if match is not None else len(parser.buffer))
            elif (cut := cut_off(self._watched, parser.buffer, parser.at)) > parser.at:
                self._pass(parser, cut)
            else:
                skip_cut_off(parser)
        if parser.reader is self and (self._wrote or not (parser.framing.seen or parser.output.wrote_content)):
            del self._space[len(self._space) if self._ended is None else self._ended :]
            self._flush_space(parser)
        return True

    def passage(self, parser: "Parser") -> Passage | None:
        if not self._wrote or self._ended is not None or self._literal or parser.framing.behind_muted:
            return None
        if self._pattern is None:
            self._compile(parser)
        speaks = self.channel == "content"
        at_once = speaks and parser.no_calls  # no marker can follow, so white space does not wait
        if speaks and (not parser.output.in_content or (at_once and self._space)):
            return None
        passage, space = self._passage, None if at_once else self._space
        if passage is None or passage.space is not space:
            self._passage = passage = Passage(ContentDelta if speaks else ReasoningDelta, free_text(self._watched), space)
        return passage

    def _behind_call(self, parser: "Parser") -> bool:
        """Whether a call ended right here: the beginning of a marker is then its closer, cut off, and not text."""
        return parser.calls.completed > 0 and not self._wrote

    # ---- markers
    def _compile(self, parser: "Parser") -> re.Pattern[str]:
        fmt = parser.format
        others = (*fmt.stop, *meaningless(fmt), *strays(fmt, self.channel))
        if self.channel == "content":
            others += (*call_tokens(fmt)[0], *call_tokens(fmt)[1])
        self._watched = self._table.watched(others, drafts=parser.drafts.left > 0)
        self._pattern, self._passage = boundary(self._watched), None
        return self._pattern

    def _at_marker(self, parser: "Parser", marker: str) -> bool:
        """Read on behind a marker; False: what follows must tell, and has not arrived."""
        target = self._table.markers.get(marker)
        opener = self._table.openers.get(marker)
        if target is None and opener is None:
            self._without_meaning(parser, marker)
        elif target is not None and target.text is None and self._echoes(parser, marker):
            self._as_text(parser, marker)
        elif empty := self._empty_block(parser, marker, target):
            parser.notice("literal_marker", f"{marker} and what closes it stand around nothing and were dropped")
            parser.framing.seen = True
            self._ended = 0 if self._space and self._wrote and not parser.has_messages else None
            parser.skip(empty)
        elif empty is None:
            return False
        else:
            self._enter(parser, marker, target, opener)
        return True

    def _empty_block(self, parser: "Parser", marker: str, target: Position | None) -> int | None:
        """Where the block of calls ends that begins here and holds none; 0: it is none, None: not enough has arrived to tell."""
        if target is None or target.text is not None or self.channel != "content" or parser.calls.tools == {}:
            return 0
        alone = not self._wrote and (parser.output.behind_call or not parser.output.wrote_content)
        return empty_block(parser, marker, target, alone=alone)

    def _enter(self, parser: "Parser", marker: str, target: Position | None, opener: Position | None) -> None:
        """Go where a marker leads."""
        if parser.has_messages and self.channel == "content" and marker not in self._table.own:
            self._keep_space(parser)
        elif marker in self._table.drafts and not parser.has_messages:
            if marker in self._table.bare and (parser.output.wrote_content or self._wrote or parser.calls.completed):
                self._as_text(parser, marker)
                return
            parser.drafts.begin(self, marker, self._space)
        if target is None or target.text is None:
            self._begin_call(parser, marker)
        elif parser.framing.behind_muted and marker in self._table.own:  # the closer of a call that is text is text
            self._flush_space(parser)
            parser.pass_text(self.channel, parser.at + len(marker))
            parser.go(target)
            return
        self._space, self._ended, self._pattern = [], None, None
        if opener is not None:
            parser.enter(opener)
            return
        assert target is not None
        parser.framing.seen = True
        parser.skip(parser.at + len(marker))
        parser.go(target)

    def _begin_call(self, parser: "Parser", marker: str) -> None:
        """A call may begin here: what is skipped from here on is held."""
        parser.calls.announced = len(marker) > 1
        parser.framing.behind_muted = False
        leads = self.channel == "content" and parser.output.wrote_content and marker not in self._table.own
        parser.output.lead = "".join(self._space) if leads else ""
        parser.hold(self._space)

    def _call(self, parser: "Parser", called: NameFirst) -> bool:
        """Go on behind a name and its marker that have changed places."""
        parser.notice("repaired", f"the name of a call before {called.marker}")
        self._begin_call(parser, called.marker)
        self._space, self._ended, self._pattern = [], None, None
        parser.go(self._table.markers[called.marker])
        parser.skip(called.end)
        parser.calls.name = called.name
        parser.go(called.position)
        return True

    def _echoes(self, parser: "Parser", marker: str) -> bool:
        """Whether a mere bracket stands behind a call that a real marker announced: models repeat their calls as text."""
        return len(marker) == 1 and parser.calls.announced and marker not in self._table.own

    def _without_meaning(self, parser: "Parser", marker: str) -> None:
        """The end of the turn, or a reasoning marker that has no partner."""
        inner, closers = call_tokens(parser.format)
        if marker in inner or (marker in closers and parser.framing.returned):
            parser.framing.returned = True
            self._as_text(parser, marker)
            return
        drops = marker in closers or marker in meaningless(parser.format)
        is_stop = drops or marker in parser.format.stop
        if not is_stop and parser.drafts.open is not None:
            parser.abandon_draft()
            return
        if not is_stop and (self._wrote or parser.output.wrote_content) and _PLAIN_TAG.match(marker):
            self._as_text(parser, marker)
            return
        if drops:
            parser.notice("literal_marker", f"{marker} stands where it has no meaning and was dropped")
        elif is_stop and self._wrote and not parser.has_messages:
            # the end of the turn, unless more text follows: then the model spelled it, and it is text
            self._ended = len(self._space) if self._ended is None else self._ended
            self._space.append(marker)
        parser.framing.seen = True
        parser.skip(parser.at + len(marker))

    # ---- text
    def _as_text(self, parser: "Parser", marker: str) -> None:
        self._pass(parser, parser.at + len(marker))

    def _pass_literal(self, parser: "Parser") -> bool:
        end = min(parser.at + self._literal, len(parser.buffer))
        self._literal -= end - parser.at
        self._pass(parser, end)
        return True

    def _pass(self, parser: "Parser", end: int) -> None:
        """Text up to `end`: give out what is certain to be text, hold the whitespace behind it."""
        text = parser.buffer[parser.at : end]
        body = text.rstrip()
        if parser.no_calls and (body or self._wrote) and self.channel == "content":
            body = text
        if body and self._wrote and parser.drafts.open is None and not parser.framing.behind_muted:
            parser.at += len(body)  # text behind text, as nearly all text is
            if self._space:
                body = "".join(self._space) + body
                self._space.clear()
                self._ended = None
            parser.output.text(self.channel, body)
        elif body:
            if parser.drafts.open is not None:
                parser.abandon_draft()
                return
            if not self._wrote:
                self._begin(parser, len(body) - len(body.lstrip()))
            self._flush_space(parser)
            parser.framing.behind_muted = False
            parser.pass_text(self.channel, end - len(text) + len(body))
        if parser.at < end:
            self._space.append(parser.buffer[parser.at : end])
            parser.skip(end)

    def _begin(self, parser: "Parser", lead: int) -> None:
        """The first text of this stretch: markers that only open the turn no longer count."""
        self._wrote = True
        if self.channel == "reasoning" or (parser.framing.seen and not parser.output.wrote_content and not self._says):
            self._space = []
            parser.skip(parser.at + lead)
        if self._table.position is not self.position or self._table is not TextTable(self.position):
            self._use(TextTable(self.position))

    def _keep_space(self, parser: "Parser") -> None:
        """White space before the marker of a message: behind text it is text, else it waits for more content."""
        if self._wrote:
            self._flush_space(parser)
        elif parser.output.wrote_content:
            parser.output.between.extend(self._space)
            self._space = []

    def _flush_space(self, parser: "Parser") -> None:
        self._ended = None
        if self._space:
            parser.output.text(self.channel, "".join(self._space))
            self._space = []
