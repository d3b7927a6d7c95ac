"""Tokens that stand in free text and mean nothing there."""

import re
from functools import lru_cache
from typing import Literal

from ..automaton import compile_turn, reachable
from ..description import Format, Marker, Messages, Text
from .boundary import in_order

Channel = Literal["content", "reasoning"]
SENTINELS = ("<bos>", "<eos>")
"""Tokens that vocabularies put at the edges of texts. A turn is decoded with special tokens kept, so they can stand in it."""
_CONTROL_SIGN = re.compile(r"[|｜]")


def meaningless(fmt: Format) -> tuple[str, ...]:
    """Tokens that say nothing in a turn, wherever they stand."""
    return (*SENTINELS, *fmt.foreign)


@lru_cache(maxsize=256)
def strays(fmt: Format, channel: Channel) -> tuple[str, ...]:
    """Reasoning markers with no meaning in a channel: a closer in content, a second opener in reasoning."""
    texts: list[str] = []
    for position in reachable(compile_turn(fmt.turn)):
        reasoning = position.text
        if reasoning is None or not (isinstance(reasoning.leaf, Text) and reasoning.leaf.channel == "reasoning"):
            continue
        if channel == "reasoning" and isinstance(position.leaf, Marker):
            texts.extend(position.leaf.texts())
        if channel == "content":
            texts.extend(text for text, closer in reasoning.markers.items() if closer.text is not None)
    return in_order(texts)


@lru_cache(maxsize=256)
def call_tokens(fmt: Format) -> tuple[frozenset[str], frozenset[str]]:
    """The control tokens inside calls, and those that end them, in a turn made of messages; in free text both mean nothing.

    One that ends a call is dropped. Behind one of the others it is part of a call that is broken, and text.
    """
    turn = fmt.turn
    if not isinstance(turn, Messages):
        return frozenset(), frozenset()
    positions = list(reachable(compile_turn(turn)))
    known = {text for position in positions if position.leaf == turn.text for text in position.markers}
    known |= {*fmt.stop, *meaningless(fmt), *strays(fmt, "content")}
    inner: set[str] = set()
    closers: set[str] = set()
    for position in positions:
        if isinstance(position.leaf, Marker) and not position.says:
            ends = position.text is not None and position.text.leaf == turn.text
            (closers if ends else inner).update(filter(_CONTROL_SIGN.search, position.leaf.texts()))
    return frozenset(inner - closers - known), frozenset(closers - known)
