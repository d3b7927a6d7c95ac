"""Limits counted in Redis, so that they hold for all gateways together."""

import asyncio
import logging
from typing import Any

from gateway.errors import StoreUnavailable
from gateway.settings import KeyLimits

from .budgets import Periods, budgets_of
from .connection import connect, told
from .redis_scripts import ENTER, LEAVE, RENEWAL, RESERVE
from .standing import Standing, Verdict

PATIENCE = 0.5
"""Seconds for one answer of Redis: a request waits for it."""
RENEW = 20.0
KINDS = ("requests", "tokens", "running", "budgets", "reserved")
"""What is kept of a key, in the order in which the scripts take it."""
log = logging.getLogger(__name__)


class RedisLimiter:
    """Requests that run are leases, renewed while they do: those of a gateway that died, and what they had reserved, do not count
    for long."""

    def __init__(self, url: str, *, prefix: str, renew: float = RENEW) -> None:
        self._redis = connect(url, patience=PATIENCE)
        self._prefix = prefix
        self._renew = renew
        scripts = map(self._redis.register_script, (ENTER, RESERVE, LEAVE, RENEWAL))
        self._enter, self._reserve, self._leave, self._renewal = scripts
        self._running: dict[str, str] = {}
        """Lease -> key."""
        self._renewing: asyncio.Task[None] | None = None

    @told("limits")
    async def enter(self, key: str, lease: str, limits: KeyLimits) -> Verdict:
        """Begin a request."""
        verdict = _verdict(limits, await self._enter(keys=self._names(key), args=[lease, *_most(limits), 1]))
        if verdict.refused is None:
            self._running[lease] = key
            if self._renewing is None or self._renewing.done():
                self._renewing = asyncio.create_task(self._renew_all())
        return verdict

    @told("limits")
    async def reserve(self, key: str, lease: str, limits: KeyLimits, *, tokens: int) -> Verdict:
        """Set tokens aside for it."""
        return _verdict(limits, await self._reserve(keys=self._names(key), args=[lease, *_most(limits), tokens]))

    @told("limits")
    async def leave(self, key: str, lease: str, *, tokens: int, late: bool = False) -> None:
        """End it."""
        self._running.pop(lease, None)
        await self._leave(keys=[*self._names(key), self._name(key, f"counted:{lease}")], args=[lease, tokens, int(late)])

    async def close(self) -> None:
        """Close the connections."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait((self._renewing,))
        await self._redis.aclose()

    async def _renew_all(self) -> None:
        """While anything runs."""
        while self._running:
            await asyncio.sleep(self._renew)
            try:
                for lease, key in list(self._running.items()):
                    await self._renew_one(key, lease)
            except StoreUnavailable as error:
                log.warning("running requests cannot be renewed: %s", error)

    @told("limits")
    async def _renew_one(self, key: str, lease: str) -> None:
        if lease in self._running:
            await self._renewal(keys=self._names(key), args=[lease])

    def _names(self, key: str) -> list[str]:
        return [self._name(key, kind) for kind in KINDS]

    def _name(self, key: str, kind: str) -> str:
        """With the part in braces all names of one key are in the same node of a cluster."""
        return f"{self._prefix}:limits:{{{key}}}:{kind}"


def _most(limits: KeyLimits) -> list[int]:
    """As the scripts take it; 0: no limit."""
    most = (
        limits.requests_per_minute,
        limits.tokens_per_minute,
        limits.concurrent_requests,
        limits.tokens_per_day,
        limits.tokens_per_month,
    )
    return [limit or 0 for limit in most]


def _verdict(limits: KeyLimits, found: Any) -> Verdict:
    refused, requests, tokens, spent, second, reserved = found
    return Verdict(
        refused.decode() or None,
        _standing(limits.requests_per_minute, requests),
        _standing(limits.tokens_per_minute, tokens),
        *budgets_of(limits, (int(spent[0]), int(spent[1])), Periods(float(second))),
    ).without(int(reserved))


def _standing(limit: int | None, found: Any) -> Standing | None:
    if limit is None:
        return None
    used, reset, wait = map(int, found)
    return Standing(limit, max(0, limit - used), reset / 1000, wait / 1000)
