"""Stretches of a turn that pass as they are written: nearly all of a long answer, and of a long argument.

Whoever knows that a piece of text changes nothing need not have it read.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from .events import ContentDelta, ReasoningDelta, ToolCallArguments

Delta = type[ContentDelta] | type[ReasoningDelta] | type[ToolCallArguments]


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """Text that wholly matches `pattern` makes one event of this kind, with that text, and leaves the parser as it is."""

    kind: Delta
    pattern: re.Pattern[str]


@lru_cache(maxsize=1024)
def free_text(kind: Delta, stops: tuple[str, ...]) -> Passage:
    """What passes where any of `stops` may begin, and white space at the end waits."""
    return Passage(kind, re.compile(rf"[^{_first(stops)}]+(?<!\s)"))


@lru_cache(maxsize=1024)
def bare_value(stops: tuple[str, ...]) -> Passage:
    """What passes of a value that stands for itself and ends before one of `stops`: all that JSON writes without an escape."""
    return Passage(ToolCallArguments, re.compile(rf'[^"\\\x00-\x1f{_first(stops)}]+'))


def json_string(quote: str) -> Passage:
    """What passes inside a string in such quotes: whole escapes of JSON's, and all that needs none."""
    return Passage(ToolCallArguments, re.compile(rf"""(?:[^{quote}"\\\x00-\x1f]++|\\["\\/bfnrt])++"""))


def _first(stops: tuple[str, ...]) -> str:
    """The characters that they begin with, for a character class."""
    return "".join(sorted({re.escape(stop[0]) for stop in stops}))
