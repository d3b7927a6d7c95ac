"""How a caller's limits stand, in the headers that the clients of OpenAI and of Anthropic read."""

import math
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from gateway.store import Standing, Verdict

Headers = list[tuple[bytes, bytes]]


def standing_headers(verdict: Verdict) -> Headers:
    """Both vendors' headers for each limit of a minute; those of budgets, which neither has, are named as OpenAI's."""
    headers: Headers = []
    for kind, standing in (("requests", verdict.requests), ("tokens", verdict.tokens)):
        if standing:
            headers += [*_openai(kind, standing), *_anthropic(kind, standing)]
    for kind, standing in (("tokens-day", verdict.day), ("tokens-month", verdict.month)):
        if standing:
            headers += _openai(kind, standing)
    return headers


def _openai(kind: str, standing: Standing) -> Iterator[tuple[bytes, bytes]]:
    for what, text in {**_said(standing), "reset": duration(standing.reset)}.items():
        yield f"x-ratelimit-{what}-{kind}".encode(), text.encode()


def _anthropic(kind: str, standing: Standing) -> Iterator[tuple[bytes, bytes]]:
    for what, text in {**_said(standing), "reset": _moment(standing.reset)}.items():
        yield f"anthropic-ratelimit-{kind}-{what}".encode(), text.encode()


def _said(standing: Standing) -> dict[str, str]:
    return {"limit": str(standing.limit), "remaining": str(standing.remaining)}


def duration(seconds: float) -> str:
    """As Go writes it: 12ms, 1.5s, 1m0s, 1h0m0s."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms"
    if seconds < 60:
        return f"{math.ceil(seconds * 1000) / 1000:g}s"
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{rest}s" if hours else f"{minutes}m{rest}s"


def _moment(seconds: float) -> str:
    """The time in so many seconds, as RFC 3339 writes it."""
    return datetime.fromtimestamp(math.ceil(time.time() + seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
