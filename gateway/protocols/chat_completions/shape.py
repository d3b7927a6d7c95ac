"""What every part of one answer has in common, whether it is streamed or whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.chat.events import TokenLogprob, Usage
from gateway.protocols.logprobs import logprobs_list
from gateway.protocols.profiles import OPENAI, Profile

REASONS = frozenset({"stop", "length", "tool_calls", "content_filter"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One answer's identity and the wishes that change how it is written."""

    token: str
    """Random; all ids of the answer are made from it."""
    created: int
    model: str
    choices: int = 1
    include_usage: bool = False
    legacy: bool = False
    """Calls are written as `function_call`."""
    named: bool = False
    """The client named the one function to call."""
    profile: Profile = OPENAI
    reasoning: bool = True
    custom: frozenset[str] = frozenset()
    """Tools whose calls are written as `custom`, with their input as text."""

    @property
    def id(self) -> str:
        return f"chatcmpl-{self.token}"

    @property
    def thinks_aloud(self) -> bool:
        """Whether thinking is part of the content."""
        return self.reasoning and self.profile.thinking == "content"

    def call_id(self, choice: int, index: int) -> str:
        """Unique, and the same whether the answer is streamed or whole."""
        return f"call_{self.token[:16]}{choice:02x}{index:02x}"

    def finish_reason(self, reason: str) -> str:
        """The reason in the words this client knows."""
        if reason == "tool_calls":
            return self.profile.forced_finish if self.named else "function_call" if self.legacy else "tool_calls"
        return reason if reason in REASONS else "stop"


def usage_object(usage: Usage) -> dict[str, Any]:
    """Tokens spent, as OpenAI counts them."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def logprobs_object(tokens: Sequence[TokenLogprob]) -> dict[str, Any]:
    """Log probabilities of the turn's tokens, markup included."""
    return {"content": logprobs_list(tokens), "refusal": None}
