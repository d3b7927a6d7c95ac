"""Holds each caller to the limits of its key, for as long as its request runs."""

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from gateway.errors import LimitError, StoreUnavailable, TokenLimitError
from gateway.middleware.caller import caller
from gateway.settings import ApiKey
from gateway.store import Limiter, MemoryLimiter, Verdict
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.observer import Record

from .standing import duration, standing_headers

PAUSE = 1.0
"""Seconds in which a store that could not be reached is left alone, so that not every request waits for it."""
log = logging.getLogger(__name__)


class Admission:
    """Asks the limiter. While that cannot be reached, this gateway counts for itself, or refuses, as the policy says."""

    def __init__(self, limiter: Limiter, metrics: Metrics, *, on_failure: Literal["allow", "deny"] = "allow") -> None:
        self._limiter = limiter
        self._metrics = metrics
        self._on_failure = on_failure
        self._own = MemoryLimiter()
        self._again_at: float | None = None
        """When to ask the store again; None while it answers."""

    @asynccontextmanager
    async def admitted(self, record: Record) -> AsyncIterator[None]:
        """The time of one request, whose tokens stand in the record at its end. LimitError: a limit is reached."""
        asking = caller.get()
        if asking is None or not asking.key.limits:
            yield
            return
        key, lease = asking.key, uuid.uuid4().hex
        limiter, verdict = await self._enter(key, lease)
        asking.headers[:] = standing_headers(verdict)
        if verdict.refused:
            self._metrics.limited.labels(verdict.refused).inc()
            raise _refusal(verdict, key)
        try:
            yield
        finally:
            tokens = record.prompt_tokens + record.completion_tokens
            # Also when this request is cancelled, and once more while it waits here.
            await asyncio.shield(asyncio.create_task(self._leave(limiter, key, lease, tokens=tokens)))

    async def close(self) -> None:
        """Let go of the store."""
        await self._limiter.close()

    async def _enter(self, key: ApiKey, lease: str) -> tuple[Limiter, Verdict]:
        if self._again_at is None or time.monotonic() >= self._again_at:
            try:
                verdict = await self._limiter.enter(key.name, lease, key.limits)
            except StoreUnavailable as error:
                self._failed(error)
            else:
                self._answered()
                return self._limiter, verdict
        self._metrics.uncounted.inc()
        if self._on_failure == "deny":
            raise StoreUnavailable("Limits cannot be counted now. Please try again later.")
        return self._own, await self._own.enter(key.name, lease, key.limits)

    async def _leave(self, limiter: Limiter, key: ApiKey, lease: str, *, tokens: int) -> None:
        try:
            await limiter.leave(key.name, lease, tokens=tokens)
        except StoreUnavailable as error:
            self._failed(error)

    def _failed(self, error: StoreUnavailable) -> None:
        if self._again_at is None:
            log.warning("limits are not shared among gateways now (on_store_failure: %s): %s", self._on_failure, error)
        self._again_at = time.monotonic() + PAUSE

    def _answered(self) -> None:
        if self._again_at is not None:
            log.info("limits are shared among gateways again")
        self._again_at = None


def _refusal(verdict: Verdict, key: ApiKey) -> LimitError:
    limits, wait = key.limits, verdict.retry_after
    again = f"Please try again in {duration(wait)}."
    if verdict.refused == "concurrent":
        return LimitError(f"Too many requests at once: this key may have {limits.concurrent_requests}. {again}", retry_after=wait)
    if verdict.refused == "tokens":
        return TokenLimitError(
            f"Rate limit reached for tokens per minute (TPM): Limit {limits.tokens_per_minute}. {again}", retry_after=wait
        )
    return LimitError(
        f"Rate limit reached for requests per minute (RPM): Limit {limits.requests_per_minute}. {again}", retry_after=wait
    )
