"""How many tokens a request may take, as far as can be said before it runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.chat.plan import Plan, Prompt

from .catalog import ModelSpec

BYTES = 3
"""Of text that make a token, where nothing here can count them: most languages have more."""
DEFAULT_TOKENS = 16
"""Of a completion that says nothing."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What one prompt and its answers may take."""

    prompt: int
    answers: int = 1
    said: int | None = None
    """Most tokens of an answer, as the request or the model's entry says; None: neither does."""
    most: int | None = None
    """The same, as the model's context and entry allow it."""

    def tokens(self, assumed: int) -> int:
        """All of them. `assumed`: those of an answer of which nobody says how long it may be."""
        answer = assumed if self.said is None else self.said
        return self.prompt + self.answers * (answer if self.most is None else min(answer, self.most))


def of_plan(plan: Plan, spec: ModelSpec) -> Claim:
    """What a planned request may take. What it takes when it is asked again (`strict: retry`) is not part of it."""
    said = plan.request.sampling.max_tokens
    said = spec.sampling.max_tokens if said is None else said
    return Claim(_length(plan.prompt), plan.sampling.n, said, plan.sampling.max_tokens)


def of_body(body: Mapping[str, Any], spec: ModelSpec) -> Claim:
    """What a request may take that goes to the engine as it came."""
    if "prompt" not in body:
        return Claim(_tokens(body.get("input")), answers=0)
    prompts = body["prompt"]
    count = len(prompts) if isinstance(prompts, list) and not _are_ids(prompts) else 1
    answers = max(body.get("n") or 1, body.get("best_of") or 1) * count
    asked = body.get("max_tokens")
    return Claim(_tokens(prompts), answers, DEFAULT_TOKENS if asked is None else asked, spec.max_tokens)


def _length(prompt: Prompt) -> int:
    return _tokens(prompt.text) if prompt.token_ids is None else len(prompt.token_ids)


def _tokens(given: Any) -> int:
    """Of a text, of token ids, or of several of either."""
    if isinstance(given, str):
        return -(-len(given.encode("utf-8", "surrogatepass")) // BYTES)
    if isinstance(given, list):
        return len(given) if _are_ids(given) else sum(map(_tokens, given))
    return 0


def _are_ids(given: Iterable[Any]) -> bool:
    return all(type(each) is int for each in given)
