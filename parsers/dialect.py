"""Recognising a call that is written in another family's markers: the parser was set wrongly, or the model was swapped."""

import re
from functools import lru_cache

from .automaton import reachable
from .description import Format, Text
from .errors import UnwritableError
from .events import Event, ToolCallEnd
from .fold import fold
from .message import Message, ToolCall, Tools
from .parser import Parser, compiled
from .registry import get, names
from .writer import written

_SEARCHED = 65536
"""Characters of a turn's content that are searched."""
_WITHOUT_MARKERS = ("llama3_json", "llama4_pythonic")
"""Formats that announce a call by nothing but its first character."""
_CALL = Message(tool_calls=(ToolCall("f", '{"k": "v"}', "abcdefgh1"),))
_MARK = re.compile(r"</?[a-z][a-z0-9_:]*[=>]|<[|｜][^<>]+>|\[/?[A-Z][A-Z_]+\]")


def likely_format(text: str, fmt: Format, *, tools: Tools) -> str | None:
    """The format, other than this one, in which the text carries a whole call to one of the tools.

    Of several, the one that leaves the least of the text unread, and that would have written it just so.
    """
    text = text[:_SEARCHED]
    likely = _likely_names(text) - {fmt.name}
    found = [(misfit, name) for name in likely if (misfit := _misfit(text, name, tools)) is not None]
    return min(found)[1] if found else None


def spelled_formats(text: str) -> list[str]:
    """The formats whose calls begin with a marker that stands in the text.

    First the one of whose own calls most is spelled and least is not; among equals the one with the longest marker.
    """
    found = [(len(opener), name) for name in names() for opener in _openers(name) if opener in text]
    longest: dict[str, int] = {}
    for length, name in found:
        longest[name] = max(length, longest.get(name, 0))
    told = {name: sum(1 if mark in text else -1 for mark in _written_marks(name)) for name in longest}
    return sorted(longest, key=lambda name: (-told[name], -longest[name], get(name).template is None, name))


def _misfit(text: str, name: str, tools: Tools) -> tuple[int, bool] | None:
    """How badly a format fits a text in which it reads a call; None when it reads none."""
    parser = Parser(get(name), tools=tools)
    events: list[Event] = parser.feed(text) + parser.finish("stop")
    if not any(isinstance(event, ToolCallEnd) and event.complete for event in events):
        return None
    return sum(map(len, parser.output.content)), not _writes(text, name, fold(events))


def _writes(text: str, name: str, message: Message) -> bool:
    try:
        return written(get(name), message).strip() in text
    except UnwritableError:
        return False


def _likely_names(text: str) -> set[str]:
    """The formats that may have a call in the text; none for nearly every answer in words."""
    likely: set[str] = set()
    for first, owners in _owners().items():
        if first in text:
            likely.update(*(names for opener, names in owners.items() if opener in text))
    return likely.union(_WITHOUT_MARKERS) if text.lstrip()[:1] in ("{", "[") else likely


@lru_cache(maxsize=1)
def _owners() -> dict[str, dict[str, list[str]]]:
    """Which formats have calls behind each of all the markers, by the markers' first characters; many share theirs."""
    owners: dict[str, dict[str, list[str]]] = {}
    for name in names():
        for opener in () if name in _WITHOUT_MARKERS else _openers(name):
            owners.setdefault(opener[0], {}).setdefault(opener, []).append(name)
    return owners


@lru_cache(maxsize=256)
def _written_marks(name: str) -> frozenset[str]:
    """What looks like a marker in a call as this format writes it."""
    try:
        return frozenset(_MARK.findall(written(get(name), _CALL)))
    except UnwritableError:
        return frozenset()


@lru_cache(maxsize=256)
def _openers(name: str) -> tuple[str, ...]:
    """The markers that lead from content into a call of this format, without those of a single character."""
    found: set[str] = set()
    for position in reachable(compiled(get(name))):
        if isinstance(position.leaf, Text) and position.leaf.channel == "content":
            found.update(text for text, target in position.markers.items() if target.text is None and len(text) > 1)
    return tuple(sorted(found))
