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
    """Text that wholly matches `pattern` makes one event of this kind, with that text, and leaves the parser as it is.

    With `space`, which is the parser's own: white space at the end of the text waits there, and goes before the next text.
    """

    kind: Delta
    pattern: re.Pattern[str]
    space: list[str] | None = None

    def passed(self, texts: list[str]) -> list[str]:
        """The texts of the events that these make, one after the other."""
        space = self.space
        if space is None:
            return texts
        passed = []
        for text in texts:
            if space:
                text = "".join(space) + text
                space.clear()
            body = text.rstrip()
            if len(body) < len(text):
                space.append(text[len(body) :])
            if body:
                passed.append(body)
        return passed


@lru_cache(maxsize=1024)
def free_text(stops: tuple[str, ...]) -> re.Pattern[str]:
    """What passes where any of `stops` may begin."""
    return re.compile(f"[^{_first(stops)}]+")


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
