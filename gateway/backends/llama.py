"""llama.cpp's own words: a plan to the body of one completion, its chunks to pieces, its errors to ours."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.chat.events import Piece, TokenLogprob, Usage
from gateway.chat.plan import Plan
from gateway.chat.request import Sampling
from gateway.errors import BackendError, BackendGarbled, BackendRefused, BackendUnavailable, ContextTooLong, GatewayError

from .gguf import GgufModel
from .guidance import grammar_for

RENAMED = {"repetition_penalty": "repeat_penalty"}
"""What other engines call it -> what llama.cpp calls it."""


def bodies(plan: Plan, model: GgufModel) -> list[dict[str, Any]]:
    """One request per choice; the prompt's cached work is shared by the engine."""
    sampling = plan.sampling
    body: dict[str, Any] = {RENAMED.get(name, name): value for name, value in sampling.engine_extras.items()}
    body.update(prompt=_prompt(plan, model), stream=True, n=1, cache_prompt=True, max_tokens=-1)
    body["return_progress"] = True  # a sign of life, and a chance to cancel, at each batch of the prompt
    for name in ("max_tokens", "temperature", "top_p", "frequency_penalty", "presence_penalty"):
        if (value := getattr(sampling, name)) is not None:
            body[name] = value
    if sampling.logit_bias:
        body["logit_bias"] = dict(sampling.logit_bias)
    if sampling.top_logprobs is not None:
        body["logprobs"] = max(1, sampling.top_logprobs)  # 0 would give none at all
    # Where the vocabulary lacks the format's end of turn, the model spells it, and only a stop text ends the turn.
    if stop := [*sampling.stop, *(text for text in plan.stop_token_texts if text not in model.ends)]:
        body["stop"] = stop
    if sampling.stop:
        body["verbose"] = True  # only then the engine tells which text ended the answer
    if plan.constraint is not None:
        body["grammar"] = grammar_for(plan.constraint, model.control, ends=plan.stop_token_texts)
    if sampling.seed is None:
        return [dict(body) for _ in range(sampling.n)]
    return [{**body, "seed": (sampling.seed + choice) % 2**32} for choice in range(sampling.n)]


def _prompt(plan: Plan, model: GgufModel) -> Any:
    """Token ids as they are. A text that begins with the bos token begins with its id, so that the engine adds no second one."""
    if plan.prompt.token_ids is not None:
        return list(plan.prompt.token_ids)
    text = plan.prompt.text
    if model.bos_id is not None and model.bos and text.startswith(model.bos) and len(text) > len(model.bos):
        return [model.bos_id, text.removeprefix(model.bos)]
    return text


class TurnReader:
    """Reads one choice's chunks. The text of an end-of-turn token is held until it is known to have ended it, then dropped."""

    def __init__(self, choice: int, sampling: Sampling, *, ends: frozenset[str]) -> None:
        self.finished = False
        self.usage = Usage(0, 0)
        self._choice = choice
        self._ends = tuple(ends)
        self._stops = sampling.stop
        self._top = sampling.top_logprobs or 0
        self._held: Piece | None = None

    def read(self, chunk: Mapping[str, Any]) -> Iterator[Piece]:
        """The pieces a chunk completes; an error object becomes the exception it means."""
        if "error" in chunk:
            raise refusal(chunk["error"])
        if "usage" in chunk:
            self.usage = _usage(chunk["usage"])
        word = (chunk.get("__verbose") or {}).get("stopping_word")
        for choice in chunk.get("choices") or ():
            yield from self._piece(choice, word if word in self._stops else None)

    def _piece(self, choice: Mapping[str, Any], stop: str | None) -> Iterator[Piece]:
        text, finish = choice.get("text") or "", choice.get("finish_reason")
        if finish not in (None, "stop", "length"):
            raise BackendGarbled(f"The engine ended the answer with '{finish}'.")
        if finish is None and not text and not choice.get("logprobs"):
            return
        if (held := self._release(finish)) is not None:
            yield held
        logprobs = _logprobs(choice.get("logprobs"), self._top)
        piece = Piece(self._choice, text, None, finish, None, logprobs, stop if finish == "stop" else None)
        if finish is not None:
            self.finished = True
        elif text.endswith(self._ends):
            self._held = piece
            return
        yield piece

    def _release(self, finish: str | None) -> Piece | None:
        """What was held, without the end of turn if that is what it was."""
        held, self._held = self._held, None
        if held is None or finish != "stop":
            return held
        ending = max((end for end in self._ends if held.text.endswith(end)), key=len)
        if held.text == ending:
            return None
        logprobs = held.logprobs[:-1] if held.logprobs else None
        return Piece(held.choice, held.text.removesuffix(ending), logprobs=logprobs)


def _usage(usage: Mapping[str, Any]) -> Usage:
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(usage["prompt_tokens"], usage["completion_tokens"], cached)


def _logprobs(wire: Mapping[str, Any] | None, top: int) -> list[TokenLogprob] | None:
    if not wire:
        return None
    return [TokenLogprob(token["token"], token["logprob"], _rivals(token, top)) for token in wire["content"]]


def _rivals(token: Mapping[str, Any], top: int) -> list[tuple[str, float]]:
    return [(rival["token"], rival["logprob"]) for rival in token["top_logprobs"][:top]]


def total(usages: list[Usage]) -> Usage:
    """What all choices of one request cost; their common prompt counts once."""
    first = usages[0]
    return Usage(first.prompt_tokens, sum(usage.completion_tokens for usage in usages), first.cached_tokens)


def refusal(error: Mapping[str, Any]) -> GatewayError:
    """The exception an error object of llama.cpp means."""
    message = str(error.get("message") or "no reason given")
    if error.get("type") == "exceed_context_size_error":
        prompt, context = int(error["n_prompt_tokens"]), int(error["n_ctx"])
        return ContextTooLong.of(prompt, context)
    code = error.get("code")
    if isinstance(code, int) and 400 <= code < 500:
        return BackendRefused(message, status=code)
    if code == 503:
        return BackendUnavailable(f"The embedded engine takes no request: {message}")
    return BackendError(f"The embedded engine failed: {message}")
