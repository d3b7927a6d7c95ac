"""Holds each caller to the limits of its key, for as long as its request runs."""

import asyncio
import logging
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal

from gateway.errors import StoreUnavailable
from gateway.middleware.caller import Caller, caller
from gateway.planning.claim import Claim
from gateway.settings import ApiKey
from gateway.store import Limiter, MemoryLimiter, Verdict
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.record import Record

from .refusal import refusal
from .standing import standing_headers

PAUSE = 1.0
"""Seconds in which a store that could not be reached is left alone, so that not every request waits for it."""
MOST_OWED = 100_000
"""Requests whose tokens are remembered until the store can be told; of more, the oldest are forgotten."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Place:
    """One request that was let in: by what it is counted, and whose it is."""

    limiter: Limiter
    key: ApiKey
    asking: Caller


class Admission:
    """Asks the limiter. While that cannot be reached, this gateway counts for itself, or refuses, as the policy says."""

    def __init__(
        self, limiter: Limiter, metrics: Metrics, *, on_failure: Literal["allow", "deny"] = "allow", assumed_answer: int = 0
    ) -> None:
        self._limiter = limiter
        self._metrics = metrics
        self._on_failure = on_failure
        self._assumed_answer = assumed_answer
        self._own = MemoryLimiter()
        self._again_at: float | None = None
        """When to ask the store again; None while it answers."""
        self._owed: deque[tuple[str, str, int]] = deque(maxlen=MOST_OWED)
        """Key, lease and tokens of requests that ended while it could not be reached."""
        self._paying: asyncio.Task[None] | None = None
        self._places: dict[str, _Place] = {}
        """Requests that run, by their leases."""

    def admitted(self, record: Record) -> AbstractAsyncContextManager[None]:
        """The time of one request, whose tokens stand in the record at its end. LimitError: a limit is reached."""
        asking = caller.get()
        return nullcontext() if asking is None or not asking.key.limits else self._counted(record, asking)

    @asynccontextmanager
    async def _counted(self, record: Record, asking: Caller) -> AsyncIterator[None]:
        key, lease = asking.key, uuid.uuid4().hex
        limiter, verdict = await self._enter(key, lease)
        self._tell(verdict, asking)
        if verdict.refused:
            raise refusal(verdict, key)
        record.lease, self._places[lease] = lease, _Place(limiter, key, asking)
        try:
            yield
        finally:
            del self._places[lease]
            tokens = record.prompt_tokens + record.completion_tokens
            # Also when this request is cancelled, and once more while it waits here.
            await asyncio.shield(asyncio.create_task(self._leave(limiter, key, lease, tokens=tokens)))

    async def reserve(self, record: Record, claims: Iterable[Claim]) -> None:
        """Set aside what this request may take, until it ends. LimitError: beside those that run there is no room for it."""
        place = self._places.get(record.lease)
        if place is None or not place.key.limits.of_tokens:
            return
        tokens = sum(claim.tokens(self._assumed_answer) for claim in claims)
        try:
            verdict = await place.limiter.reserve(place.key.name, record.lease, place.key.limits, tokens=tokens)
        except StoreUnavailable as error:
            self._failed(error)
            self._uncounted()
            return
        self._tell(verdict, place.asking)
        if verdict.refused:
            raise refusal(verdict, place.key, claim=tokens)

    async def close(self) -> None:
        """Let go of the store, once it knows what it can be told."""
        if self._paying is not None:
            await asyncio.wait((self._paying,))
        await self._pay()
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
        self._uncounted()
        return self._own, await self._own.enter(key.name, lease, key.limits)

    def _uncounted(self) -> None:
        """A request cannot be counted together with those of other gateways."""
        self._metrics.uncounted.inc()
        if self._on_failure == "deny":
            raise StoreUnavailable("Limits cannot be counted now. Please try again later.")

    def _tell(self, verdict: Verdict, asking: Caller) -> None:
        asking.headers[:] = standing_headers(verdict)
        if verdict.refused:
            self._metrics.limited.labels(verdict.refused).inc()

    async def _leave(self, limiter: Limiter, key: ApiKey, lease: str, *, tokens: int) -> None:
        try:
            await limiter.leave(key.name, lease, tokens=tokens)
        except StoreUnavailable as error:
            self._owed.append((key.name, lease, tokens))
            self._failed(error)
        if limiter is self._own and tokens:
            self._owed.append((key.name, lease, tokens))

    async def _pay(self) -> None:
        """Have the store count for its budgets what was used while it was away."""
        while self._owed:
            key, lease, tokens = self._owed.popleft()
            try:
                await self._limiter.leave(key, lease, tokens=tokens, late=True)
            except StoreUnavailable as error:
                self._owed.appendleft((key, lease, tokens))
                self._failed(error)
                return

    def _failed(self, error: StoreUnavailable) -> None:
        if self._again_at is None:
            log.warning("limits are not shared among gateways now (on_store_failure: %s): %s", self._on_failure, error)
        self._again_at = time.monotonic() + PAUSE

    def _answered(self) -> None:
        if self._again_at is not None:
            log.info("limits are shared among gateways again")
        self._again_at = None
        if self._owed and (self._paying is None or self._paying.done()):
            self._paying = asyncio.create_task(self._pay())
