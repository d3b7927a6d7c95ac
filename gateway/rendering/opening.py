"""What the template already wrote of the assistant's turn.

The generation prompt is the difference between rendering with and without it. Its head is the role header, which is what
precedes an assistant's text in history; the rest belongs to the turn. Thinking markers always belong to the turn, also where
a template writes one before every old answer; so does what Functionary writes before the recipient of each message.
"""

import re

MARKER = re.compile(r"<[^<>\n]{1,80}>|\[/?[A-Z_]{2,40}\]")
_THINKING = re.compile(r"(?:<[^<>\n]{0,40}|\[/?)(?:think|reason|thought|cot_budget)[^<>\[\]\n]{0,40}[>\]]", re.IGNORECASE)


_OF_THE_TURN = re.compile(f"{_THINKING.pattern}|>>>(?!>)", re.IGNORECASE)


def common_prefix(one: str, other: str) -> str:
    """The longest common beginning that cuts no marker in two."""
    if other.startswith(one):
        return one
    if one.startswith(other):
        return other
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return one[: min(_before_marker(one, low), _before_marker(other, low))]


def _before_marker(text: str, cut: int) -> int:
    """`cut`, or the start of the marker that it stands in."""
    for match in MARKER.finditer(text, max(0, cut - 82)):
        if match.start() >= cut:
            break
        if match.end() > cut:
            return match.start()
    return cut


def without_thinking(header: str) -> str:
    """The header up to the first marker that belongs to the turn."""
    found = _OF_THE_TURN.search(header)
    return header[: found.start()] if found else header


def behind_thinking(text: str) -> str:
    """What a turn's own text says behind its thinking, which templates take out of it and write in their own way."""
    ends = [match.end() for match in _THINKING.finditer(text)]
    return text[ends[-1] if ends else 0 :].lstrip()


def is_thinking(marker: str) -> bool:
    """Whether this token opens or closes reasoning."""
    return _THINKING.fullmatch(marker) is not None


def opening_of(generation: str, header: str) -> str:
    """The part of a generation prompt that belongs to the turn."""
    shared = common_prefix(generation, header)
    if shared == generation:
        return ""
    if header and shared == header:
        return generation[len(shared) :]
    found = _THINKING.search(generation)
    if not found:
        return ""
    head = generation[: found.start()]
    return generation[len(head.rstrip()) if not head.strip() else found.start() :]
