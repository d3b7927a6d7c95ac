"""What stands between regions: markers with whitespace around them, and names."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from ..automaton import Position
from ..description import CallId, Format, JsonArguments, Marker, NumberedName, ToolName
from .behind import NAME_LIMIT, begins_call, ends_behind
from .boundary import boundary, in_order, space_end, whole
from .cut_off import cut_off, skip_cut_off
from .keys import key_closer, key_stands, region_of, tool_before_key
from .reader import Reader
from .strays import meaningless
from .tag_table import table_of
from .values import unescaped

if TYPE_CHECKING:
    from ..parser import Parser

_NAME_SIGN = re.compile(r"[\w.:-]")


@lru_cache(maxsize=4096)
def _watched(position: Position, ends: tuple[str, ...]) -> tuple[str, ...]:
    """What may come next, and the tokens that are skipped wherever they stand."""
    return in_order([*position.markers, *position.openers, *ends, *_behind_nothing(position)])


@lru_cache(maxsize=4096)
def _behind_nothing(position: Position) -> frozenset[str]:
    """What ends a call whose arguments come next, where it has none."""
    regions = [region for region in position.openers.values() if isinstance(region.leaf, JsonArguments)]
    return frozenset(text for region in regions for text in ends_behind(region)) - position.markers.keys()


def _ends(fmt: Format) -> tuple[str, ...]:
    return (*fmt.stop, *meaningless(fmt))


class FrameReader(Reader):
    """Reads the marker that comes next, or enters the region that does."""

    __slots__ = ("_position",)

    def __init__(self, position: Position) -> None:
        self._position = position

    def read(self, parser: "Parser") -> bool:
        if not parser.skip_space():
            return False
        match = boundary(_watched(self._position, _ends(parser.format))).match(parser.buffer, parser.at)
        if match is not None and match.group(1) is None:
            return False  # cut off: it may become a marker
        end = match.end() if match is not None else parser.at
        again = self._begins_again(parser, end)
        headless = not again and self._headless(parser, end)
        if again is None or headless is None:
            return False
        if headless:
            parser.skip(end)
            parser.enter(headless)
            return True
        if again:
            parser.notice("repaired", "the beginning of a call written twice")
            parser.calls.name = None
        self._next(parser, match.group(1) if match is not None else None)
        return True

    def _begins_again(self, parser: "Parser", end: int) -> bool | None:
        """Whether the name of the call that has only begun stands behind this marker once more; None: it may."""
        name = parser.calls.name
        if not name or parser.calls.open or not begins_call(self._position, parser.buffer[parser.at : end]):
            return False
        rest = parser.buffer[end : end + len(name) + 1]
        if len(rest) <= len(name) and name.startswith(rest) and not parser.reason:
            return None
        return rest[:-1] == name and _NAME_SIGN.match(rest[-1]) is None

    def _headless(self, parser: "Parser", end: int) -> Position | Literal[False] | None:
        """The arguments that begin here without their first tag, or, up to `end`, with a marker in its place; None: they may."""
        region = region_of(self._position)
        marker = parser.buffer[parser.at : end]
        if region is None or not parser.calls.name or parser.calls.open or (marker and not begins_call(self._position, marker)):
            return False
        return key_stands(parser, table_of(region), end) and region

    def finish(self, parser: "Parser") -> bool:
        if parser.skip_space():
            watched = _watched(self._position, _ends(parser.format))
            match = whole(watched).match(parser.buffer, parser.at)
            cut = cut_off(watched, parser.buffer, parser.at, sure=parser.calls.open) if parser.has_messages else None
            if match is None and cut == parser.at:
                skip_cut_off(parser)
                return True
            self._next(parser, match.group(1) if match is not None else None)
        return True

    def _next(self, parser: "Parser", marker: str | None) -> None:
        position = self._position
        if marker is None:
            if position.fallback is not None:
                parser.enter(position.fallback)
            else:
                parser.reject("literal_marker", f"what follows {_said(position)} is no call")
        elif target := position.markers.get(marker):
            parser.pass_marker(target, parser.at + len(marker))
        elif region := position.openers.get(marker):
            parser.enter(region)
        elif marker in _behind_nothing(position):
            parser.enter(position.openers["{"])
        else:
            parser.drop(parser.at + len(marker))


def _said(position: Position) -> str:
    """The leaf of a position, for people."""
    leaf = position.leaf
    return repr(leaf.text) if isinstance(leaf, Marker) else type(leaf).__name__


@lru_cache(maxsize=4096)
def _name_ends(position: Position) -> tuple[str, ...]:
    """What ends a name: the markers behind it, the beginning of JSON, the end of a call without arguments, or of the line."""
    texts = [*position.markers, *position.openers, *_behind_nothing(position)]
    spaces = (" ", "\t") if isinstance(position.leaf, ToolName) and position.leaf.word else ()
    return in_order([*texts, "\n", *spaces, *filter(None, [key_closer(position)])])


def _tool_name(leaf: ToolName, written: str, parser: "Parser") -> str:
    """The tool that a name as it is written means."""
    name = unescaped(written) if leaf.escaped else written.removeprefix(leaf.prefix)
    declared = parser.calls.tools or {}
    tail = re.split("[.:]", name)[-1]
    return tail if leaf.spaced and name not in declared and tail in declared else name


def _name_in_id(leaf: NumberedName, written: str, parser: "Parser") -> str:
    """The tool that an id names; one that is a mere number can only mean the only tool there is.

    An id whose parts are not set off as they should be is read where it can mean but one tool.
    """
    name = leaf.name_of(written)
    tools = parser.calls.tools
    if tools is None or parser.calls.declared(name) is not None:
        return name
    meant = list(tools) if name.isdigit() else [tool for tool in tools if _glued(leaf.prefix, tool).fullmatch(written)]
    if len(meant) != 1:
        return name
    parser.notice("repaired", f"the id {written} does not name the tool as ids of this format do")
    return meant[0]


@lru_cache(maxsize=1024)
def _glued(prefix: str, tool: str) -> re.Pattern[str]:
    """An id of a tool whose signs between prefix, name and number are others, or missing."""
    return re.compile(rf"(?:{re.escape(prefix.rstrip('.'))}[._:/-]?)?{re.escape(tool)}[._:/-]?[0-9]*")


class NameReader(Reader):
    """Reads the name of a tool, the id of a call or a filler, up to the marker behind it. The arguments open the call."""

    __slots__ = ("_position",)

    def __init__(self, position: Position) -> None:
        self._position = position

    def read(self, parser: "Parser") -> bool:
        ends = _name_ends(self._position)
        # A long text without an end is not searched beyond the limit, or many beginnings of names in it would cost its square.
        limit = parser.at + NAME_LIMIT + max(map(len, ends))
        match = boundary(ends).search(parser.buffer, parser.at, limit)
        if match is not None and match.group(1) == key_closer(self._position):
            if self._named_with_key(parser, match.start()):
                return True
            match = boundary(tuple(end for end in ends if end != match.group(1))).search(parser.buffer, parser.at, limit)
        end = match.start() if match is not None else len(parser.buffer)
        if end - parser.at > NAME_LIMIT:
            parser.reject("malformed", "a name has no end")
            return True
        if match is None or match.group(1) is None:
            return False
        return self._named(parser, end)

    def finish(self, parser: "Parser") -> bool:
        match = whole(_name_ends(self._position)).search(parser.buffer, parser.at)
        if match is not None:
            self._named(parser, match.start())
            return True
        if isinstance(self._position.leaf, ToolName) and self._position.accepting:
            self._named(parser, len(parser.buffer))
            return True
        parser.skip(len(parser.buffer))
        return False

    def _named_with_key(self, parser: "Parser", end: int) -> bool:
        """Whether the text up to here is the name of a tool and, without the tag between them, its first argument."""
        begin = space_end(parser.buffer, parser.at)
        name = tool_before_key(parser, parser.buffer[begin:end])
        return name is not None and self._named(parser, begin + len(name))

    def _named(self, parser: "Parser", end: int) -> bool:
        leaf = self._position.leaf
        name = parser.buffer[parser.at : end].strip()
        parser.skip(end)
        match leaf:
            case CallId():
                parser.calls.id = name or None
            case NumberedName():
                parser.calls.id, parser.calls.name = name, _name_in_id(leaf, name, parser)
            case ToolName():
                parser.calls.name = _tool_name(leaf, name, parser)
        if not name and isinstance(leaf, ToolName | NumberedName):
            parser.reject("malformed", "a call has no name")
        else:
            parser.go(self._position)
        return True
