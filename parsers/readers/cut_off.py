"""Control tokens that the end of a turn cuts off."""

import re
from typing import TYPE_CHECKING

from .boundary import boundary

if TYPE_CHECKING:
    from ..parser import Parser

_BEGINNING = re.compile(r"<[|/]?[a-z:]*\Z|.{0,2}\Z")
"""The end of a turn that may as well be prose as the beginning of a marker."""


def cut_off(watched: tuple[str, ...], text: str, at: int, *, sure: bool = False) -> int:
    """Where a control token begins that the end of the text cuts off; the end of the text when none does.

    `sure`: no prose stands here, so a single character may be one.
    """
    match = boundary(watched).search(text, at)
    if match is None or match.group(1) is not None or (not sure and _BEGINNING.match(text, match.start())):
        return len(text)
    return match.start()


def skip_cut_off(parser: "Parser") -> None:
    """The rest is the beginning of a control token: it says nothing."""
    parser.notice("truncated", "the turn ended inside a marker")
    parser.skip(len(parser.buffer))
