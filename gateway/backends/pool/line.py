"""Where requests get a replica, and wait while there is none for them: first come, first served, but retries go first."""

import asyncio
from collections import deque
from collections.abc import Sequence, Set
from dataclasses import dataclass

from gateway.errors import BackendUnavailable
from gateway.settings import PoolSettings
from gateway.telemetry.replicas import PoolMeter

from .replica import Lease, Replica
from .routing import chosen


@dataclass(slots=True, eq=False)
class _Waiting:
    key: bytes | None
    granted: "asyncio.Future[Lease]"


class Line:
    """The replicas of one model, and the requests that wait for them. `holds`: whether a request waits while all are out."""

    def __init__(self, replicas: Sequence[Replica], settings: PoolSettings, meter: PoolMeter, *, holds: bool) -> None:
        self._replicas = replicas
        self._settings = settings
        self._meter = meter
        self._holds = holds
        self._waiting: deque[_Waiting] = deque()
        self._empty_since: float | None = None
        """Since when all replicas are out."""

    def __len__(self) -> int:
        return len(self._waiting)

    async def take(self, key: bytes | None, *, until: float, tried: Set[Replica] = frozenset()) -> Lease:
        """A place at a replica, which must be given back. BackendUnavailable: there is none in time. `tried`: those that failed
        this request, which come last."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        lease = None if self._waiting and not tried else self._pick(key, tried)
        if lease is None:
            lease = await self._wait(key, min(until, self._patience(began)), first=bool(tried))
        self._meter.waited.observe(loop.time() - began)
        return lease

    def give_back(self, lease: Lease) -> None:
        """A request has left its replica."""
        lease.replica.leave(lease)
        if self._waiting:
            self.changed()

    def changed(self) -> None:
        """Something did: whoever can be served now no longer waits."""
        now = asyncio.get_running_loop().time()
        if any(replica.out is None for replica in self._replicas):
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = now
        while self._waiting:
            waiting = self._waiting[0]
            if waiting.granted.done():
                self._waiting.popleft()
                continue
            lease = self._pick(waiting.key)
            if lease is None:
                return
            self._waiting.popleft()
            waiting.granted.set_result(lease)

    def later(self, seconds: float) -> None:
        """Look again after so many seconds: a pause is over then."""
        asyncio.get_running_loop().call_later(seconds + 0.001, self.changed)

    def _pick(self, key: bytes | None, tried: Set[Replica] = frozenset()) -> Lease | None:
        """A place at the best replica that takes a request now."""
        now = asyncio.get_running_loop().time()
        free = [replica for replica in self._replicas if replica.takes(now)]
        if not free and not any(replica.out is None and replica.breaker.closed for replica in self._replicas):
            # Better one that has failed lately than none.
            free = [replica for replica in self._replicas if replica.takes(now, unsparing=True)]
        fresh = [replica for replica in free if replica not in tried]
        replica = chosen(fresh or free, key, balance=self._settings.balance)
        return None if replica is None else replica.enter()

    def _patience(self, now: float) -> float:
        """Until when a request may wait."""
        wait = self._settings.queue.wait
        if self._empty_since is None:
            return now + wait
        return self._empty_since + wait if self._holds else now

    async def _wait(self, key: bytes | None, until: float, *, first: bool) -> Lease:
        loop = asyncio.get_running_loop()
        if len(self._waiting) >= self._settings.queue.length or until <= loop.time():
            raise self._refusal()
        waiting = _Waiting(key, loop.create_future())
        (self._waiting.appendleft if first else self._waiting.append)(waiting)
        self._meter.waiting.inc()
        try:
            async with asyncio.timeout_at(until):
                return await waiting.granted
        except (TimeoutError, asyncio.CancelledError) as end:
            self._drop(waiting)
            if isinstance(end, TimeoutError):
                raise self._refusal() from None
            raise
        finally:
            self._meter.waiting.dec()

    def _drop(self, waiting: _Waiting) -> None:
        """It waits no longer. What it was granted at this very moment goes to the next."""
        if waiting.granted.done() and not waiting.granted.cancelled():
            self.give_back(waiting.granted.result())
        else:
            self._waiting.remove(waiting)

    def _refusal(self) -> BackendUnavailable:
        everywhere = f"all {len(self._replicas)} replicas" if len(self._replicas) > 1 else "its engine"
        if self._empty_since is not None:
            self._meter.refused("out")
            problem = BackendUnavailable(
                f"The model cannot be served now: {everywhere} cannot be reached. Please try again later."
            )
            problem.retry_after = self._settings.health.interval
            return problem
        self._meter.refused("full")
        problem = BackendUnavailable(
            f"The model has too many requests now: {everywhere} cannot take more. Please try again later.", code="queue_full"
        )
        problem.retry_after = max(1.0, self._settings.queue.wait / 2)
        return problem
