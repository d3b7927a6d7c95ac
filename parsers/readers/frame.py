"""What stands between regions: markers with whitespace around them, and names."""

from functools import lru_cache
from typing import TYPE_CHECKING

from ..automaton import Position
from ..description import CallId, Marker, ToolName
from .boundary import boundary, in_order, whole
from .json_value import SPACE

if TYPE_CHECKING:
    from ..parser import Parser

NAME_LIMIT = 256
"""Characters of a tool's or an argument's name; what is longer is no name."""


@lru_cache(maxsize=4096)
def texts_behind(position: Position) -> tuple[str, ...]:
    """The markers and region openers that may come next."""
    return in_order([*position.markers, *position.openers])


class FrameReader:
    """Reads the marker that comes next, or enters the region that does."""

    __slots__ = ("_position",)

    def __init__(self, position: Position) -> None:
        self._position = position

    def read(self, parser: "Parser") -> bool:
        self._space(parser)
        if parser.at == len(parser.buffer):
            return False
        texts = texts_behind(self._position)
        match = boundary(texts).match(parser.buffer, parser.at) if texts else None
        if match is not None and match.group(1) is None:
            return False  # cut off: it may become a marker
        return self._next(parser, match.group(1) if match is not None else None)

    def finish(self, parser: "Parser") -> bool:
        self._space(parser)
        if parser.at == len(parser.buffer):
            return True
        texts = texts_behind(self._position)
        match = whole(texts).match(parser.buffer, parser.at) if texts else None
        self._next(parser, match.group(1) if match is not None else None)
        return True

    def _space(self, parser: "Parser") -> None:
        match = SPACE.match(parser.buffer, parser.at)
        if match and match.end() > parser.at:
            parser.skip(match.end())

    def _next(self, parser: "Parser", marker: str | None) -> bool:
        position = self._position
        if marker is None:
            if position.fallback is not None:
                parser.enter(position.fallback)
            elif not self._stop(parser):
                parser.reject("literal_marker", f"what follows {_said(position)} is no call")
            return True
        target = position.markers.get(marker)
        if target is None:
            parser.enter(position.openers[marker])
            return True
        parser.hold()
        parser.skip(parser.at + len(marker))
        parser.go(target)
        return True

    def _stop(self, parser: "Parser") -> bool:
        """Skip the text of a token that ends the turn."""
        for text in parser.format.stop:
            if parser.buffer.startswith(text, parser.at):
                parser.skip(parser.at + len(text))
                return True
        return False


def _said(position: Position) -> str:
    """The leaf of a position, for people."""
    leaf = position.leaf
    return repr(leaf.text) if isinstance(leaf, Marker) else type(leaf).__name__


@lru_cache(maxsize=4096)
def _name_ends(position: Position) -> tuple[str, ...]:
    """What ends a name: the markers behind it, the beginning of JSON, or the end of the line."""
    texts = [*position.markers, *position.openers]
    return in_order([*texts, "\n"])


class NameReader:
    """Reads the name of a tool, or the model's id for a call, up to the marker behind it. The arguments open the call."""

    __slots__ = ("_position",)

    def __init__(self, position: Position) -> None:
        self._position = position

    def read(self, parser: "Parser") -> bool:
        match = boundary(_name_ends(self._position)).search(parser.buffer, parser.at)
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

    def _named(self, parser: "Parser", end: int) -> bool:
        leaf = self._position.leaf
        name = parser.buffer[parser.at : end].strip()
        parser.skip(end)
        if isinstance(leaf, CallId):
            parser.call_id = name or None
            parser.go(self._position)
            return True
        assert isinstance(leaf, ToolName)
        if not name:
            parser.reject("malformed", "a call has no name")
            return True
        parser.name = name.removeprefix(leaf.prefix) if leaf.prefix else name
        parser.go(self._position)
        return True
