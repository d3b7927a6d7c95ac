"""Pieces as the chunks of a stream, and as the answer in one piece."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.chat.events import Piece, TokenLogprob, Usage
from gateway.errors import GatewayError

Json = dict[str, Any]
DONE = b"data: [DONE]\n\n"


@dataclass(slots=True)
class _Choice:
    """What one choice said so far."""

    texts: list[str] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish: str | None = None
    stop: str | None = None
    length: int = 0
    """Of the text that log probabilities were told of."""


class Encoder:
    """Writes one answer. `prompts`: what each choice begins with; empty where it shall not be repeated."""

    def __init__(self, head: Json, prompts: Sequence[str]) -> None:
        self._head = head
        self._prompts = prompts
        self._choices = [_Choice() for _ in prompts]

    def opening(self) -> bytes:
        """The prompts, where they are to be repeated."""
        return b"".join(self._chunk(place, text, None) for place, text in enumerate(self._prompts) if text)

    def encode(self, pieces: Sequence[Piece]) -> bytes:
        """All chunks of what one read of the engine gave."""
        return b"".join(self._chunk(piece.choice, piece.text, piece) for piece in pieces)

    def closing(self, usage: Usage | None) -> bytes:
        """What follows the last piece."""
        return (self._frame([], usage_object(usage)) if usage is not None else b"") + DONE

    def failure(self, error: GatewayError) -> bytes:
        """A failure in mid-stream. No [DONE] follows, so that no client takes the answer for whole."""
        return f"data: {json.dumps(error.body())}\n\n".encode()

    def take(self, pieces: Sequence[Piece]) -> None:
        """Keep what one read of the engine gave, for the answer in one piece."""
        for piece in pieces:
            choice = self._choices[piece.choice]
            choice.texts.append(piece.text)
            choice.logprobs += piece.logprobs or ()
            choice.finish, choice.stop = piece.finish_reason or choice.finish, piece.stop or choice.stop

    def whole(self, usage: Usage) -> bytes:
        """The answer in one piece."""
        choices = [
            _written(place, (prompt + "".join(choice.texts), choice.finish, choice.stop), self._logprobs(choice, choice.logprobs))
            for place, (prompt, choice) in enumerate(zip(self._prompts, self._choices, strict=True))
        ]
        return json.dumps({**self._head, "choices": choices, "usage": usage_object(usage)}, separators=(",", ":")).encode()

    def _chunk(self, place: int, text: str, piece: Piece | None) -> bytes:
        if piece is None:
            return self._frame([_written(place, (text, None, None), None)], None)
        logprobs = self._logprobs(self._choices[place], piece.logprobs or ())
        return self._frame([_written(place, (text, piece.finish_reason, piece.stop), logprobs)], None)

    def _logprobs(self, choice: _Choice, tokens: Sequence[TokenLogprob]) -> Json | None:
        """OpenAI's legacy shape: lists side by side."""
        if not tokens:
            return None
        offsets = []
        for token in tokens:
            offsets.append(choice.length)
            choice.length += len(token.token)
        return {
            "tokens": [token.token for token in tokens],
            "token_logprobs": [max(token.logprob, -9999.0) for token in tokens],
            "top_logprobs": [{text: max(value, -9999.0) for text, value in token.top} for token in tokens],
            "text_offset": offsets,
        }

    def _frame(self, choices: list[Json], usage: Json | None) -> bytes:
        body = {**self._head, "choices": choices} | ({"usage": usage} if usage is not None else {})
        return f"data: {json.dumps(body, separators=(',', ':'))}\n\n".encode()


def _written(place: int, said: tuple[str, str | None, str | None], logprobs: Json | None) -> Json:
    """A choice as it is told: its text, how it finished, and the stop text that ended it, where one did."""
    text, finish, stop = said
    choice: Json = {"index": place, "text": text, "logprobs": logprobs, "finish_reason": finish}
    return choice if stop is None else {**choice, "stop_reason": stop}


def usage_object(usage: Usage) -> Json:
    """Tokens spent, as OpenAI counts them."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
