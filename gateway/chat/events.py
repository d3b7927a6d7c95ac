"""What flows from an engine to a client: pieces in, batches of events out.

What is made for every read is a msgspec Struct: to make one costs a third of what a dataclass does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from parsers import Event


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens spent on one request, over all its choices."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """What both cost together."""
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(slots=True)
class TokenLogprob:
    """One sampled token's log probability and those of its best rivals; `token` is its text."""

    token: str
    logprob: float
    top: Sequence[tuple[str, float]] = ()


class Piece(msgspec.Struct, gc=False):
    """What a backend yields: new raw text of one choice, and how the choice ended once it has.

    `finish_reason` is `stop` or `length`. `usage` may come on any piece, also on one without text (then `choice` means nothing).
    `stop` comes with the finish reason: which of the request's stop texts ended the choice, where the engine says so.
    """

    choice: int
    text: str
    token_ids: Sequence[int] | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    logprobs: Sequence[TokenLogprob] | None = None
    stop: str | None = None
    tokens: int = 1
    """How many tokens the text is of, where their ids are not known."""


class Batch(msgspec.Struct):
    """The events that one piece of one choice gave, with what else came along."""

    choice: int
    events: list[Event]
    logprobs: Sequence[TokenLogprob] | None = None
    stop: str | None = None


def joined(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces of a single choice, in which neighbours that hold nothing but text are one."""
    found: list[Piece] = []
    texts: list[str] = []
    for piece in pieces:
        text = piece.text
        if text and piece == Piece(0, text):
            texts.append(text)
            continue
        if texts:
            found.append(Piece(0, "".join(texts), tokens=len(texts)))
            texts = []
        found.append(piece)
    if texts:
        found.append(Piece(0, "".join(texts), tokens=len(texts)))
    return found


Logprobs = Sequence[TokenLogprob]
Json = dict[str, Any]
