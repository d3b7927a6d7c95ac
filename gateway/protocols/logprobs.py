"""Log probabilities as OpenAI writes them, the same in all of its protocols."""

from collections.abc import Sequence
from typing import Any

from gateway.chat.events import TokenLogprob


def logprobs_list(tokens: Sequence[TokenLogprob]) -> list[dict[str, Any]]:
    """Each token with its best rivals."""
    return [
        {**_candidate(token.token, token.logprob), "top_logprobs": [_candidate(text, value) for text, value in token.top]}
        for token in tokens
    ]


def _candidate(text: str, logprob: float) -> dict[str, Any]:
    """OpenAI writes an impossible token as -9999; JSON has no infinity."""
    return {"token": text, "logprob": max(logprob, -9999.0), "bytes": list(text.encode("utf-8", "replace"))}
