"""Finding a whole marker, or the beginning of one at the very end of what has arrived so far."""

import re
import sys
from collections.abc import Iterable
from functools import lru_cache

_SPACE = re.compile(r"[ \t\r\n]*")


def space_end(text: str, at: int, end: int = sys.maxsize) -> int:
    """Where the white space that begins at `at` ends."""
    match = _SPACE.match(text, at, end)
    return match.end() if match is not None else at


@lru_cache(maxsize=1024)
def boundary(markers: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds the first whole marker (group 1; the longest at one place) or a cut-off one at the end of the text.

    Where a whole marker may still become a longer one it counts as cut off.
    """
    longest_first = sorted(markers, key=len, reverse=True)
    cut = "|".join(_cut_off(marker) for marker in longest_first if len(marker) > 1)
    found = f"(?:{cut})\\Z|({_any_of(longest_first)})" if cut else f"({_any_of(longest_first)})"
    return re.compile(f"(?=[{_first_characters(markers)}])(?:{found})")


@lru_cache(maxsize=1024)
def whole(markers: tuple[str, ...]) -> re.Pattern[str]:
    """The same for a text that is at its end: group 1 is the first whole marker."""
    return re.compile(f"({_any_of(sorted(markers, key=len, reverse=True))})")


def _first_characters(markers: tuple[str, ...]) -> str:
    """What a marker may begin with, as a character class: the search passes all other characters at once."""
    return "".join(sorted({re.escape(marker[0]) for marker in markers}))


def _any_of(markers: list[str]) -> str:
    return "|".join(re.escape(marker) for marker in markers)


def _cut_off(marker: str) -> str:
    rest = ""
    for character in reversed(marker[1:-1]):
        rest = f"(?:{re.escape(character)}{rest})?"
    return re.escape(marker[0]) + rest


def in_order(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts in a fixed order, so that equal sets share one compiled pattern."""
    return tuple(sorted(set(texts)))
