"""How much a key has used in the last minute, day and month, and whether it may use more."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from gateway.settings import KeyLimits

from .budgets import Periods, Spent, budgets_of
from .standing import Standing, Verdict, first_used_up

WINDOW = 60
"""Seconds. Use is kept by whole seconds, and a second is forgotten only once all of it is a window ago."""


class Limiter(Protocol):
    """Counts what keys use. Methods raise StoreUnavailable when nothing can be counted."""

    async def enter(self, key: str, lease: str, limits: KeyLimits) -> Verdict:
        """Begin a request of this key; `lease` is its own name."""
        ...

    async def leave(self, key: str, lease: str, *, tokens: int, late: bool = False) -> None:
        """End it, having used so many tokens. Said twice, it counts once. `late`: they were used long ago, and count for budgets
        only."""
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
    spent: Spent = field(default_factory=Spent)
    running: set[str] = field(default_factory=set)


class MemoryLimiter:
    """Counts in the gateway's own memory. There are no more accounts than keys. `calendar`: seconds since 1970, for budgets."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, calendar: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._calendar = calendar
        self._accounts: dict[str, _Account] = {}

    async def enter(self, key: str, lease: str, limits: KeyLimits) -> Verdict:
        """Begin a request."""
        account, now = self._accounts.setdefault(key, _Account()), self._clock()
        periods = Periods(self._calendar())
        verdict = Verdict(
            None,
            _standing(account.requests, limits.requests_per_minute, now),
            _standing(account.tokens, limits.tokens_per_minute, now),
            *budgets_of(limits, account.spent.used(periods), periods),
        )
        if limits.concurrent_requests is not None and len(account.running) >= limits.concurrent_requests:
            return replace(verdict, refused="concurrent")
        if (refused := first_used_up(verdict)) is not None:
            return replace(verdict, refused=refused)
        account.running.add(lease)
        account.requests.add(1, now)
        return replace(verdict, requests=_standing(account.requests, limits.requests_per_minute, now))

    async def leave(self, key: str, lease: str, *, tokens: int, late: bool = False) -> None:
        """End it."""
        account = self._accounts.setdefault(key, _Account())
        if lease not in account.running:
            return
        account.running.discard(lease)
        if tokens:
            account.spent.add(tokens, Periods(self._calendar()))
            if not late:
                account.tokens.add(tokens, self._clock())

    async def close(self) -> None:
        """Forget everything."""
        self._accounts.clear()


def _standing(window: Window, limit: int | None, now: float) -> Standing | None:
    return None if limit is None else window.standing(limit, now)
