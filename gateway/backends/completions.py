"""OpenAI's legacy completions wire, as engines speak it: a plan to a body, a stream of chunks to pieces."""

from collections.abc import Sequence
from typing import Any

import msgspec

from gateway.chat.events import Piece, TokenLogprob, Usage
from gateway.chat.plan import Plan
from gateway.errors import BackendError, BackendGarbled, BackendRefused

from .http import error_text
from .sse import SSEDecoder, plain_events
from .text_frame import TextFrame

DONE = b"[DONE]"
ENDINGS = ("stop", "length")
MOST_FRAMES = 8
"""So many times a stream's frame is learned; one that changes with each chunk is none."""


class _Logprobs(msgspec.Struct, gc=False):
    tokens: list[str] = []
    token_logprobs: list[float | None] = []
    top_logprobs: list[dict[str, float] | None] | None = None


class _Choice(msgspec.Struct, gc=False):
    index: int = 0
    text: str = ""
    finish_reason: str | None = None
    stop_reason: int | str | None = None
    """vLLM: the stop text that ended the choice, or the id of such a token."""
    token_ids: list[int] | None = None
    logprobs: _Logprobs | None = None


class _Cached(msgspec.Struct, gc=False):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct, gc=False):
    prompt_tokens: int = 0
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_Chunk).decode


class CompletionsReader:
    """One stream's reading: blocks of bytes in, the pieces they complete out. `done` once the engine said so.

    `frame`: a block that it fits need not be fed: it would give pieces of the only choice, with the texts in it and nothing else.
    None where that is not known.
    """

    def __init__(self, *, choices: int, top_logprobs: int | None) -> None:
        self.done = False
        self.frame: TextFrame | None = None
        self._known: TextFrame | None = None
        self._frames = MOST_FRAMES if choices == 1 else 0
        """How many may still be learned."""
        self._events = SSEDecoder()
        self._open = set(range(choices))
        self._top = top_logprobs

    def feed(self, block: bytes) -> list[Piece]:
        """Pieces that are whole now; BackendError when the engine reports a failure inside its stream."""
        pieces: list[Piece] = []
        events = self._events.feed(block)
        for data in events:
            if data == DONE:
                self.done = True
                break
            self._read(data, pieces)
        if self._frames and events and pieces and not self.done:
            self._learn(b"data: %b\n\n" % events[-1], pieces[-1])
        self.frame = None if self._events.holds else self._known
        return pieces

    def end(self) -> None:
        """To be called when the bytes end: BackendGarbled if a choice has not."""
        if self._open:
            raise BackendGarbled("The engine's stream broke off before the answer was complete.")

    def _learn(self, block: bytes, piece: Piece) -> None:
        """Learn the frame of a block that was read as this piece, if it is one that other texts of the choice may stand in."""
        if self._known is not None and self._known.fits(block):
            return
        if not piece.text or piece != Piece(0, piece.text):
            return
        self._frames -= 1
        frame = TextFrame.of(block)
        events = None if frame is None else plain_events(frame.around(b'"x"'))
        if events is not None and len(events) == 1 and _decode(events[0]) == _Chunk([_Choice(text="x")]):
            self._known = frame

    def _read(self, data: bytes, pieces: list[Piece]) -> None:
        try:
            chunk = _decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise BackendGarbled(f"The engine sent a chunk that cannot be read ({error}).") from None
        if chunk.error is not None:
            raise _failure(chunk.error)
        for choice in chunk.choices:
            if choice.finish_reason is None and choice.logprobs is None and choice.index in self._open:
                pieces.append(Piece(choice.index, choice.text, choice.token_ids))
            else:
                pieces.append(self._piece(choice))
        if chunk.usage is not None:
            pieces.append(Piece(0, "", usage=_usage(chunk.usage)))

    def _piece(self, choice: _Choice) -> Piece:
        index, finish = choice.index, choice.finish_reason
        if index not in self._open:
            raise BackendGarbled(f"The engine sent text for choice {index}, which it had ended or nobody asked for.")
        logprobs = None if choice.logprobs is None else _logprobs(choice.logprobs, self._top or 0)
        if finish is not None:
            if finish not in ENDINGS:
                raise BackendGarbled(f"The engine ended the answer with '{finish}'.")
            self._open.remove(index)
        stop = choice.stop_reason if isinstance(choice.stop_reason, str) else None
        return Piece(index, choice.text, choice.token_ids, finish, None, logprobs, stop)


def _failure(error: Any) -> BackendError:
    """What an error inside a stream is. vLLM finds some faults of the request, such as a bias of no token, only there."""
    told = error if isinstance(error, dict) else {}
    if told.get("code") in (400, 422):
        return BackendRefused(error_text(error), param=told.get("param"), status=told["code"])
    return BackendError(f"The engine failed while it generated: {error_text(error)}")


def _usage(usage: _Usage) -> Usage:
    cached = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else None
    return Usage(usage.prompt_tokens, usage.completion_tokens or 0, cached or 0)


def _logprobs(wire: _Logprobs, top: int) -> list[TokenLogprob]:
    """The legacy shape (parallel lists), token by token. Engines add the chosen token to the best; only the best are kept."""
    rivals: Sequence[dict[str, float] | None] = wire.top_logprobs or [None] * len(wire.tokens)
    return [
        TokenLogprob(token, logprob or 0.0, sorted((best or {}).items(), key=lambda pair: -pair[1])[:top])
        for token, logprob, best in zip(wire.tokens, wire.token_logprobs, rivals, strict=False)
    ]


def body_of(plan: Plan, *, model: str) -> dict[str, Any]:
    """What every engine with this wire is asked. Always streamed: aborting, usage and errors are then one path."""
    sampling = plan.sampling
    body: dict[str, Any] = {
        **sampling.engine_extras,
        "model": model,
        "prompt": plan.prompt.text if plan.prompt.token_ids is None else list(plan.prompt.token_ids),
        "stream": True,
        "stream_options": {"include_usage": True},
        "n": sampling.n,
    }
    for name in ("max_tokens", "temperature", "top_p", "frequency_penalty", "presence_penalty", "seed"):
        if (value := getattr(sampling, name)) is not None:
            body[name] = value
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if sampling.top_logprobs is not None:
        body["logprobs"] = sampling.top_logprobs
    if sampling.logit_bias:
        body["logit_bias"] = dict(sampling.logit_bias)
    return body
