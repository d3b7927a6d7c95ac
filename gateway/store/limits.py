"""How much a key has used in the last minute, and whether it may use more."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from gateway.settings import KeyLimits

WINDOW = 60
"""Seconds. Use is kept by whole seconds, and a second is forgotten only once all of it is a window ago."""
SOON = 1.0
"""Seconds after which to try again when other requests must end first."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is left of one limit."""

    limit: int
    remaining: int
    reset: float
    """Seconds until all of it is there again, if nothing more is used."""
    wait: float
    """Seconds until one more fits; 0: it does now."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a request may go on. One that may not has used nothing."""

    refused: Literal["requests", "tokens", "concurrent"] | None
    requests: Standing | None
    tokens: Standing | None

    @property
    def retry_after(self) -> float:
        """Seconds after which it may."""
        return max((standing.wait for standing in (self.requests, self.tokens) if standing), default=0.0) or SOON


class Limiter(Protocol):
    """Counts what keys use. Methods raise StoreUnavailable when nothing can be counted."""

    async def enter(self, key: str, lease: str, limits: KeyLimits) -> Verdict:
        """Begin a request of this key; `lease` is its own name."""
        ...

    async def leave(self, key: str, lease: str, *, tokens: int) -> None:
        """End it, having used so many tokens."""
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...


class Window:
    """What was used in the last minute."""

    def __init__(self) -> None:
        self._seconds: deque[tuple[int, int]] = deque()
        self.used = 0

    def add(self, amount: int, now: float) -> None:
        """Use some."""
        self.forget(now)
        self._seconds.append((math.floor(now), amount))
        self.used += amount
        if len(self._seconds) > 1 and self._seconds[-2][0] == math.floor(now):
            _, last = self._seconds.pop()
            second, before = self._seconds.pop()
            self._seconds.append((second, before + last))

    def standing(self, limit: int, now: float) -> Standing:
        """What is left."""
        self.forget(now)
        over, wait, reset = self.used + 1 - limit, 0.0, 0.0
        for second, amount in self._seconds:
            reset = second + WINDOW + 1 - now
            if over > 0:
                over -= amount
                wait = reset
        return Standing(limit, max(0, limit - self.used), reset, wait)

    def forget(self, now: float) -> None:
        """Let go of what is more than a minute ago."""
        while self._seconds and self._seconds[0][0] < math.floor(now) - WINDOW:
            self.used -= self._seconds.popleft()[1]


@dataclass(slots=True)
class _Account:
    requests: Window = field(default_factory=Window)
    tokens: Window = field(default_factory=Window)
    running: set[str] = field(default_factory=set)


class MemoryLimiter:
    """Counts in the gateway's own memory. There are no more accounts than keys."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._accounts: dict[str, _Account] = {}

    async def enter(self, key: str, lease: str, limits: KeyLimits) -> Verdict:
        """Begin a request."""
        account, now = self._accounts.setdefault(key, _Account()), self._clock()
        requests = _standing(account.requests, limits.requests_per_minute, now)
        tokens = _standing(account.tokens, limits.tokens_per_minute, now)
        if limits.concurrent_requests is not None and len(account.running) >= limits.concurrent_requests:
            return Verdict("concurrent", requests, tokens)
        if requests and requests.wait:
            return Verdict("requests", requests, tokens)
        if tokens and tokens.wait:
            return Verdict("tokens", requests, tokens)
        account.running.add(lease)
        account.requests.add(1, now)
        return Verdict(None, _standing(account.requests, limits.requests_per_minute, now), tokens)

    async def leave(self, key: str, lease: str, *, tokens: int) -> None:
        """End it."""
        account = self._accounts.setdefault(key, _Account())
        account.running.discard(lease)
        if tokens:
            account.tokens.add(tokens, self._clock())

    async def close(self) -> None:
        """Forget everything."""
        self._accounts.clear()


def _standing(window: Window, limit: int | None, now: float) -> Standing | None:
    return None if limit is None else window.standing(limit, now)
