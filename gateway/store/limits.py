"""How much a key has used in the last minute, day and month, and whether it may use more."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from gateway.settings import KeyLimits

from .budgets import Periods, Spent, budgets_of
from .standing import Standing, Verdict, first_full, first_used_up

WINDOW = 60
"""Seconds. Use is kept by whole seconds, and a second is forgotten only once all of it is a window ago."""


class Limiter(Protocol):
    """Counts what keys use. Methods raise StoreUnavailable when nothing can be counted."""

    async def enter(self, key: str, lease: str, limits: KeyLimits) -> Verdict:
        """Begin a request of this key; `lease` is its own name."""
        ...

    async def reserve(self, key: str, lease: str, limits: KeyLimits, *, tokens: int) -> Verdict:
        """Set aside the tokens that it may take, in place of what it had reserved before, until it is ended."""
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
    running: dict[str, int] = field(default_factory=dict)
    """Leases, and the tokens that they have reserved."""
    reserved: int = 0
    """By all of them."""

    def reserve(self, lease: str, tokens: int) -> None:
        """Set tokens aside for a running request, in place of those before."""
        self.reserved += tokens - self.running.get(lease, 0)
        self.running[lease] = tokens

    def release(self, lease: str) -> bool:
        """Forget a running request; whether there was one."""
        amount = self.running.pop(lease, None)
        self.reserved -= amount or 0
        return amount is not None


class MemoryLimiter:
    """Counts in the gateway's own memory. There are no more accounts than keys. `calendar`: seconds since 1970, for budgets."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, calendar: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._calendar = calendar
        self._accounts: dict[str, _Account] = {}

    async def enter(self, key: str, lease: str, limits: KeyLimits) -> Verdict:
        """Begin a request."""
        account = self._accounts.setdefault(key, _Account())
        verdict = self._standing(account, limits)
        told = verdict.without(account.reserved)
        if limits.concurrent_requests is not None and len(account.running) >= limits.concurrent_requests:
            return replace(told, refused="concurrent")
        refused = first_used_up(verdict) or first_full(verdict, others=account.reserved, claim=1)
        if refused is not None:
            return replace(told, refused=refused)
        account.reserve(lease, 0)
        now = self._clock()
        account.requests.add(1, now)
        return replace(told, requests=_standing(account.requests, limits.requests_per_minute, now))

    async def reserve(self, key: str, lease: str, limits: KeyLimits, *, tokens: int) -> Verdict:
        """Set tokens aside for it."""
        account = self._accounts.setdefault(key, _Account())
        account.reserve(lease, 0)
        verdict = replace(self._standing(account, limits), requests=None)
        refused = first_used_up(verdict) or first_full(verdict, others=account.reserved, claim=tokens)
        if refused is None:
            account.reserve(lease, tokens)
        requests = _standing(account.requests, limits.requests_per_minute, self._clock())
        return replace(verdict.without(account.reserved), refused=refused, requests=requests)

    async def leave(self, key: str, lease: str, *, tokens: int, late: bool = False) -> None:
        """End it."""
        account = self._accounts.setdefault(key, _Account())
        if not account.release(lease):
            return
        if tokens:
            account.spent.add(tokens, Periods(self._calendar()))
            if not late:
                account.tokens.add(tokens, self._clock())

    async def close(self) -> None:
        """Forget everything."""
        self._accounts.clear()

    def _standing(self, account: _Account, limits: KeyLimits) -> Verdict:
        """How the limits stand by what was used."""
        now, periods = self._clock(), Periods(self._calendar())
        return Verdict(
            None,
            _standing(account.requests, limits.requests_per_minute, now),
            _standing(account.tokens, limits.tokens_per_minute, now),
            *budgets_of(limits, account.spent.used(periods), periods),
        )


def _standing(window: Window, limit: int | None, now: float) -> Standing | None:
    return None if limit is None else window.standing(limit, now)
