"""What may come next, and how long a name may be that does."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ..automaton import Position
from ..description import Marker
from .boundary import in_order

if TYPE_CHECKING:
    from ..parser import Parser

NAME_LIMIT = 256
"""Characters of a tool's or an argument's name; what is longer is no name."""


@lru_cache(maxsize=4096)
def texts_behind(position: Position) -> tuple[str, ...]:
    """The markers and region openers that may come next."""
    return in_order([*position.markers, *position.openers])


@lru_cache(maxsize=4096)
def ends_behind(position: Position) -> tuple[str, ...]:
    """Of these, the ones that show that the call, or its arguments, came to an end."""
    slips = {text for text, target in position.markers.items() if isinstance(target.leaf, Marker) and target.leaf.repairs}
    return in_order(text for text in texts_behind(position) if text not in slips)


def begins_call(position: Position, marker: str) -> bool:
    """Whether a marker leads from inside a call into another one."""
    target = position.markers.get(marker)
    if target is None or target.text is not None or not position.scope:
        return False
    return target.scope != position.scope or target.opens_scope


def within(text: re.Pattern[str], begun: re.Pattern[str], parser: "Parser") -> tuple[re.Match[str] | None, bool]:
    """The text that stands here, if it is no longer than a name may be; and whether it may be one that is still arriving."""
    end = parser.at + NAME_LIMIT
    match = text.match(parser.buffer, parser.at, end)
    waits = match is None and len(parser.buffer) < end and begun.match(parser.buffer, parser.at) is not None
    return match, waits
