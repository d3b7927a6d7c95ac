"""Blocks of calls that hold none: an opener and its closer with nothing between them, where a model thought better of it."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ..automaton import SHORTEST_TAG, Position
from ..description import Text
from .boundary import boundary, in_order, space_end, whole

if TYPE_CHECKING:
    from ..parser import Parser

_LOOKAHEAD = 256
"""Characters behind an opener that are looked at."""
_NOTHING = re.compile(r"\[[ \t\r\n]*\]|\{[ \t\r\n]*\}")
_NOTHING_BEGUN = re.compile(r"[\[{][ \t\r\n]*\Z")
_DIRECTION = re.compile("begin|start|open|prefix|end|close|suffix|[/|｜]")
_CONTROL_SIGN = re.compile(r"[|｜]|\A\[")


@lru_cache(maxsize=4096)
def _closers_of(opener: str, target: Position) -> tuple[str, ...]:
    """The markers behind an opener that have its name and close it."""
    found: set[str] = set()
    seen: list[Position] = []
    pending = [target]
    while pending:
        position = pending.pop()
        if position in seen or isinstance(position.leaf, Text):
            continue
        seen.append(position)
        pending += position.follow
        found.update(text for text in position.markers if text[-1] in ">]" and _name_of(text) == _name_of(opener))
    return in_order(text for text in found if _direction_of(text) != _direction_of(opener))


def _name_of(marker: str) -> str:
    return _DIRECTION.sub("", marker.lower())


def _direction_of(marker: str) -> tuple[str, ...]:
    """What tells openers from closers, without the bars of control tokens unless they stand on one side only."""
    signs = [sign for sign in _DIRECTION.findall(marker.lower()) if sign not in "|｜"]
    return (*signs, "left") if marker[-2] not in "|｜" and marker[1] in "|｜" else tuple(signs)


def empty_block(parser: "Parser", opener: str, target: Position, *, alone: bool) -> int | None:
    """Where the empty block that begins with this opener ends; 0: it is none, None: not enough has arrived to tell.

    Of tags that prose may speak of only those are one that stand on lines of their own, `alone`: with no content before them.
    """
    closers = _closers_of(opener, target) if len(opener) >= SHORTEST_TAG else ()
    control = _CONTROL_SIGN.search(opener) is not None
    if not closers or not (control or alone):
        return 0
    at_end = bool(parser.reason)
    end = _closed(parser.buffer, parser.at + len(opener), closers, at_end=at_end)
    if not end or control:
        return end
    line = parser.buffer[end : end + _LOOKAHEAD]
    rest = line.lstrip(" \t")
    if rest or len(line) == _LOOKAHEAD:
        return end if rest[:1] in ("\r", "\n", "<") else 0
    return end if at_end else None


def _closed(text: str, at: int, closers: tuple[str, ...], *, at_end: bool) -> int | None:
    """Where the closer ends that stands here, with at most an empty list or object before it; 0: none does, None: one may."""
    limit = at + _LOOKAHEAD
    end = space_end(text, at, limit)
    nothing = _NOTHING.match(text, end, limit)
    if nothing is not None:
        end = space_end(text, nothing.end(), limit)
    if end == len(text) or (nothing is None and _NOTHING_BEGUN.match(text, end)):
        return None if not at_end and len(text) < limit else 0
    found = (whole if at_end else boundary)(closers).match(text, end)
    if found is None:
        return 0
    return None if found.group(1) is None else found.end()
