"""One pattern for hundreds of texts."""

import re
from collections.abc import Iterable


def any_of(texts: Iterable[str]) -> str:
    """A pattern for whichever of these texts stands at a place, the longest first; with no texts one that nothing matches.

    It is a tree of their characters: trying them one after the other would cost each `<` in a text some hundred comparisons.
    """
    rests: dict[str, list[str]] = {}
    for text in filter(None, texts):
        rests.setdefault(text[0], []).append(text[1:])
    ways = [re.escape(first) + _behind(following) for first, following in sorted(rests.items())]
    return "|".join(ways) or r"(?!)"


def _behind(rests: list[str]) -> str:
    """The pattern for what may follow a character; nothing may, where one of the texts ends with it."""
    if not any(rests):
        return ""
    if len(rests) == 1:
        return re.escape(rests[0])
    return f"(?:{any_of(rests)}){'' if all(rests) else '?'}"
