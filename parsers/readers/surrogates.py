"""Lone halves of surrogate pairs: JSON can spell them, and no encoding can send them."""

import re

_HALF = re.compile("[\ud800-\udfff]")


def is_encodable(text: str) -> bool:
    """Whether a text holds whole characters only, no lone half of a surrogate pair: those cannot be sent."""
    return _HALF.search(text) is None


def encodable(written: str) -> str:
    """The same JSON text with lone halves of surrogate pairs escaped."""
    return _HALF.sub(lambda half: f"\\u{ord(half.group()):04x}", written)
