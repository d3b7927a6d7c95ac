"""How a caller's limits stand, in the headers that the clients of OpenAI and of Anthropic read."""

import math
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from gateway.store import Standing, Verdict

Headers = list[tuple[bytes, bytes]]


def standing_headers(verdict: Verdict) -> Headers:
    """Both vendors' headers for each limit that there is."""
    limits = (("requests", verdict.requests), ("tokens", verdict.tokens))
    return [header for kind, standing in limits if standing for header in _of(kind, standing)]


def _of(kind: str, standing: Standing) -> Iterator[tuple[bytes, bytes]]:
    said = {"limit": str(standing.limit), "remaining": str(standing.remaining)}
    for what, text in {**said, "reset": duration(standing.reset)}.items():
        yield f"x-ratelimit-{what}-{kind}".encode(), text.encode()
    for what, text in {**said, "reset": _moment(standing.reset)}.items():
        yield f"anthropic-ratelimit-{kind}-{what}".encode(), text.encode()


def duration(seconds: float) -> str:
    """As Go writes it: 12ms, 1.5s, 1m0s."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms"
    if seconds < 60:
        return f"{math.ceil(seconds * 1000) / 1000:g}s"
    whole = math.ceil(seconds)
    return f"{whole // 60}m{whole % 60}s"


def _moment(seconds: float) -> str:
    """The time in so many seconds, as RFC 3339 writes it."""
    return datetime.fromtimestamp(math.ceil(time.time() + seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
