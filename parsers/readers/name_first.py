"""The name of a tool that stands before the marker which it should follow: `get_weather[TOOL_CALLS]{"city": "Oslo"}`."""

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, NamedTuple

from ..automaton import SHORTEST_TAG, Position
from ..description import ToolName
from .boundary import boundary, in_order, space_end, whole


class NameFirst(NamedTuple):
    """A name, the marker behind it, where that ends, and the name's position in the description."""

    name: str
    marker: str
    end: int
    position: Position


def names_behind(markers: Mapping[str, Position]) -> dict[str, Position]:
    """The markers that are followed by the name of a tool and then by its arguments, each with the name's position."""
    found = {text: target.fallback for text, target in markers.items() if target.text is None and len(text) >= SHORTEST_TAG}
    return {
        text: name
        for text, name in found.items()
        if name is not None and isinstance(name.leaf, ToolName) and text[-1] in ">]" and _arguments_of(name)
    }


def _arguments_of(name: Position) -> list[str]:
    """What shows behind a name that its arguments follow."""
    return [*name.openers, *(text for text, target in name.markers.items() if target.openers and not target.closes_scope)]


def name_first(
    text: str, at: int, tools: Collection[str], behind: Mapping[str, Position], *, at_end: bool
) -> NameFirst | Literal[False] | None:
    """The call whose name stands here before its marker; False: none does, None: not enough has arrived to tell."""
    start = space_end(text, at)
    rest = text[start : start + max(map(len, tools), default=0)]
    if not at_end and any(name != rest and name.startswith(rest) for name in tools):
        return None if rest else False
    name = max((name for name in tools if rest.startswith(name)), key=len, default="")
    if not name:
        return False
    marker = _found(behind, text, start + len(name), at_end=at_end)
    if not marker:
        return False if marker is False else None
    end = start + len(name) + len(marker)
    follows = _found(_arguments_of(behind[marker]), text, space_end(text, end), at_end=at_end)
    if not follows:
        return False if follows is False else None
    return NameFirst(name, marker, end, behind[marker])


def _found(texts: Iterable[str], text: str, at: int, *, at_end: bool) -> str | Literal[False] | None:
    """Which of the texts stands here; False: none does, None: one may."""
    if at == len(text):
        return False if at_end else None
    match = (whole if at_end else boundary)(in_order(texts)).match(text, at)
    return False if match is None else match.group(1)
