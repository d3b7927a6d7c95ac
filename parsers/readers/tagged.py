"""Arguments as tagged text. A value that can only be a string streams; one that may still change its type waits for its end.

Nothing is escaped in these formats, so a value may contain the text of a closer. A closer counts only where what follows it,
behind whitespace, is something that may follow (the next header, the end of the call) or the end of the turn.
"""

import re
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from ..automaton import Position
from ..passage import Passage, bare_value
from .behind import NAME_LIMIT, begins_call
from .boundary import boundary, in_order, space_end, whole
from .keys import is_foreign, key_stands
from .reader import Reader
from .tag_table import mark_of, table_of, with_key
from .values import allowed_types, as_json_or_text, knows, members_of, quoted, typed, unescaped

if TYPE_CHECKING:
    from ..parser import Parser

_CDATA = "<![CDATA["
_LOOKAHEAD = 256
"""Characters of whitespace behind a closer that are looked past."""


class TaggedReader(Reader):
    """Reads all arguments of one call."""

    __slots__ = (
        "_cdata",
        "_count",
        "_first",
        "_in_value",
        "_key",
        "_keyed_close",
        "_mark",
        "_parts",
        "_position",
        "_streams",
        "_table",
        "_types",
        "_unwrapping",
    )

    def __init__(self, position: Position) -> None:
        self._position = position
        self._table = table_of(position)
        self._count = 0
        self._cdata: bool | None = False
        self._in_value = False
        self._key = self._keyed_close = ""
        self._mark: str | None = None
        self._types: frozenset[str] = frozenset()
        self._streams = False
        self._first = False
        self._unwrapping = False
        self._parts: list[str] = []

    def read(self, parser: "Parser") -> bool:
        return self._read_value(parser, at_end=False) if self._in_value else self._between(parser, at_end=False)

    def finish(self, parser: "Parser") -> bool:
        while parser.at < len(parser.buffer) and parser.reader is self:
            if not self._in_value:
                if not self._between(parser, at_end=True):
                    parser.skip(len(parser.buffer))
                    return False
            elif not self._read_value(parser, at_end=True):
                break
        return parser.reader is not self

    def passage(self, parser: "Parser") -> Passage | None:
        if not self._in_value or not self._streams or self._cdata is None or not parser.calls.open:
            return None
        return bare_value(self._enders())

    # ---- between values
    def _between(self, parser: "Parser", *, at_end: bool) -> bool:
        if not parser.skip_space():
            return False
        table = self._table
        found = (whole if at_end else boundary)(table.between).match(parser.buffer, parser.at)
        if found is not None and found.group(1) is None:
            return False
        marker = found.group(1) if found is not None else ""
        if marker == table.opener:
            return self._header(parser, table.header, parser.at)
        slips = not marker or begins_call(self._position, marker)
        headless = slips and key_stands(parser, table, parser.at + len(marker))
        if headless is None:
            return False
        if headless:
            return self._header(parser, table.headless, space_end(parser.buffer, parser.at + len(marker)))
        if not marker:
            parser.reject("malformed", "between two arguments stands what is neither an argument nor the end of the call")
            return True
        if not parser.in_call():
            return True
        self._end(parser)
        target = self._position.markers.get(marker)
        if target is None:
            parser.enter(self._position.openers[marker])
            return True
        if target.scope != self._position.scope:
            parser.notice("repaired", "a call without its closing marker")
        parser.pass_marker(target, parser.at + len(marker))
        return True

    def _header(self, parser: "Parser", pattern: re.Pattern[str], at: int) -> bool:
        """An argument begins at `at`; what stands before it is framing."""
        match = pattern.match(parser.buffer, at)
        slipped = match is None or pattern is self._table.headless
        match = self._slipped(parser) if match is None else match
        if match is None:
            end = parser.buffer.find(self._table.header_end, at + len(self._table.opener), at + 2 * NAME_LIMIT)
            if end < 0 and len(parser.buffer) - at < 2 * NAME_LIMIT:
                return False
            parser.reject("malformed", "the header of an argument is broken")
            return True
        if self._table.leaf.trim and match.end() == len(parser.buffer) and not parser.reason:
            return False  # the newline that belongs to the header may be next
        first = not parser.calls.open
        unsure = (self._table.leaf.declared and first) or (slipped and (first or not self._table.header_tags))
        if unsure and is_foreign(parser, match.group("key"), slipped=slipped):
            parser.reject("undeclared", f"{parser.calls.name or 'the tool'} has no argument {match.group('key')!r}")
            return True
        if not parser.in_call():
            return True
        if slipped:
            parser.notice("repaired", "a tag missing or doubled before the value of an argument")
        end = match.end()
        if self._table.leaf.trim and parser.buffer.startswith("\n", end):
            end += 1
        parser.skip(end)
        self._begin(parser, self._key_of(parser, match.group("key")), mark_of(match))
        return True

    def _slipped(self, parser: "Parser") -> re.Match[str] | None:
        """The header that a slip has spoilt, once the text behind it tells that no further tag of it follows."""
        pattern = self._table.slipped
        match = pattern.match(parser.buffer, parser.at) if pattern is not None else None
        if match is None or match.group("last") or match.group("alone") is not None:
            return match
        rest = parser.buffer[match.end() :]
        tags = self._table.header_tags
        waits = not parser.reason and (any(tag.startswith(rest) for tag in tags) or rest.startswith(tags[1:-1]))
        return None if waits else match

    def _key_of(self, parser: "Parser", written: str) -> str:
        key = written.strip()
        if self._table.leaf.escaped:
            key = unescaped(key)
        unquoted = key.strip("\"'")
        return unquoted if unquoted != key and knows(parser.calls.tool, unquoted) else key

    def _begin(self, parser: "Parser", key: str, mark: str | None) -> None:
        self._key, self._mark = key, mark
        self._keyed_close = self._table.keyed_close.replace("{key}", key)
        self._in_value = True
        self._cdata = None if self._table.leaf.cdata else False
        self._types = allowed_types(parser.calls.tool, key)
        wraps = key in self._table.leaf.unwrap and parser.calls.tool is not None and not knows(parser.calls.tool, key)
        self._unwrapping = wraps and not self._count
        text_by_schema = self._types == {"string"}
        contradicts = mark == "true" and knows(parser.calls.tool, key) and "string" not in self._types
        is_text = mark == "true" or (text_by_schema and not self._table.leaf.marked)
        self._streams = is_text and not self._unwrapping and not contradicts
        if self._streams:
            parser.calls.arguments(self._lead() + '"')

    def _lead(self) -> str:
        self._count += 1
        return ("{" if self._count == 1 else ", ") + quoted(self._key) + ": "

    # ---- values
    def _read_value(self, parser: "Parser", *, at_end: bool) -> bool:
        if self._cdata is None and not self._begins(parser, at_end=at_end):
            return False
        enders = self._enders()
        start = parser.at
        while True:
            match = (whole if at_end else boundary)(enders).search(parser.buffer, start)
            if match is None:
                self._take(parser, self._cut_closer(parser, enders, start) if at_end else len(parser.buffer))
                parser.skip(len(parser.buffer))
                return False
            if match.start() > parser.at and match.start() >= start:
                self._take(parser, match.start())
            ender = with_key(self._keyed_close, match, at_end=at_end)
            if ender is None:
                return False
            verdict = self._cdata or self._ends(parser, match.start(), ender, at_end=at_end)
            if verdict is None:
                return False
            if verdict:
                return self._close(parser, match.start(), ender)
            start = match.start() + 1
            self._take(parser, start)

    def _enders(self) -> tuple[str, ...]:
        return (f"]]>{self._table.close}",) if self._cdata else self._table.enders

    def _closes(self, marker: str) -> bool:
        """Whether a text is a closer of the value."""
        return marker in self._table.closers or marker == self._keyed_close

    def _cut_closer(self, parser: "Parser", enders: tuple[str, ...], start: int) -> int:
        """Where the turn's end cut off a closer: its beginning is framing, not the end of the value."""
        match = boundary(enders).search(parser.buffer, start)
        return len(parser.buffer) if match is None else match.start()

    def _begins(self, parser: "Parser", *, at_end: bool) -> bool:
        """Whether the text tells by now if the value stands in a CDATA section."""
        begun = parser.buffer[parser.at : parser.at + len(_CDATA)]
        if begun != _CDATA and _CDATA.startswith(begun) and not at_end:
            return False
        self._cdata = begun == _CDATA
        if self._cdata:
            parser.skip(parser.at + len(_CDATA))
        return True

    def _take(self, parser: "Parser", end: int) -> None:
        """Text of the value."""
        text = parser.buffer[parser.at : end]
        parser.skip(end)
        if not text:
            return
        if self._streams:
            parser.calls.arguments(encode_basestring(text)[1:-1])
        else:
            self._parts.append(text)

    def _ends(self, parser: "Parser", start: int, ender: str, *, at_end: bool) -> bool | None:
        """Whether the value ends at this text; None: not enough has arrived to tell."""
        table = self._table
        marker = ender.removeprefix("\n")
        if marker == table.opener:
            match = table.header.match(parser.buffer, start + len(ender) - len(marker))
            if match is None:
                close_by = parser.buffer.find(table.header_end, start + len(ender), start + 2 * NAME_LIMIT)
                waits = close_by < 0 and len(parser.buffer) - start < 2 * NAME_LIMIT and not at_end
                return None if waits else False
            return parser.calls.tool is None or knows(parser.calls.tool, self._key_of(parser, match.group("key")))
        follow = table.between if self._closes(marker) else table.behind.get(marker, ())
        return self._followed(parser, start + len(ender), follow, at_end=at_end)

    def _followed(self, parser: "Parser", end: int, follow: tuple[str, ...], *, at_end: bool) -> bool | None:
        behind = space_end(parser.buffer, end, end + _LOOKAHEAD)
        if behind - end >= _LOOKAHEAD:
            return False
        if behind == len(parser.buffer):
            return True if at_end else None
        enders = in_order([*follow, *parser.format.stop])
        if not enders:
            return False
        found = (whole if at_end else boundary)(enders).match(parser.buffer, behind)
        if found is None:
            return follow is self._table.between and key_stands(parser, self._table, behind)
        return None if found.group(1) is None else True

    def _close(self, parser: "Parser", start: int, ender: str) -> bool:
        marker = ender.removeprefix("\n")
        kept = 0 if self._cdata or self._closes(marker) else len(marker)
        self._in_value = False
        if self._streams:
            parser.calls.arguments('"')
        else:
            parser.calls.arguments(self._value(parser))
        self._parts.clear()
        if kept:
            parser.notice("repaired", "an argument without its closing marker")
        elif not self._cdata and marker != self._table.close:
            parser.notice("repaired", f"{marker} for {self._table.close}")
        parser.skip(start + len(ender) - kept)
        return True

    def _value(self, parser: "Parser") -> str:
        raw = "".join(self._parts)
        if self._unwrapping and (inner := members_of(raw, parser.calls.tool)) is not None:
            self._count += 1
            parser.notice("repaired", f"all arguments wrapped in {self._key}")
            return "{" + inner
        if self._mark == "true":
            value = typed(raw, self._types)
            if not value.startswith('"'):
                parser.notice("repaired", f"{self._key} marked as text where the schema wants none")
        elif self._mark == "false" or (self._types == {"string"} and self._table.leaf.marked):
            value = as_json_or_text(raw) if parser.calls.tool is None or self._mark == "false" else quoted(raw)
        else:
            value = typed(raw, self._types)
        return self._lead() + value

    def _end(self, parser: "Parser") -> None:
        parser.calls.arguments("}" if self._count else "{}")
