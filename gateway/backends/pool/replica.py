"""One engine among several of the same model: what is known of it, and whether it takes a request now."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gateway.backends.base import Backend, CountsTokens, EngineFacts, Finding, Forwards, ReplicaState
from gateway.settings import PoolSettings
from gateway.telemetry.replicas import PoolMeter

from .breaker import Breaker

UNKNOWN = "has not answered yet"
ABANDONED = 0.0
"""The deadline of requests that are to be tried elsewhere."""


class Engine(Backend, CountsTokens, Forwards, Protocol):
    """What can stand in a pool."""

    place: str
    """Its address, for people."""
    model: str | None
    """The name under which it is asked; None = the first that it lists."""
    broke_off: Callable[[], None]
    """Called when an answer breaks off that had begun."""

    async def examine(self) -> tuple[Finding, ...]:
        """Faults of its set-up that only show in what it generates; a few tokens, asked for once after each start."""
        ...

    def hang_up_silent(self) -> int:
        """End the answers of which nothing has come since this was last called; how many there were."""
        ...


class Replica:
    """An engine with its place in the pool. The pool's parts change what stands here; nothing happens by itself."""

    def __init__(self, engine: Engine, settings: PoolSettings, meter: PoolMeter) -> None:
        self.engine = engine
        self.place = engine.place
        self.out: str | None = UNKNOWN
        """Why it gets no requests; None while it may have some."""
        self.said: EngineFacts | None = None
        """What it serves, as it said last; None while it cannot be asked."""
        self.facts: EngineFacts | None = None
        """The same, from when it was let in."""
        self.findings: tuple[Finding, ...] = ()
        self.breaker = Breaker(settings.breaker)
        self.trying = False
        """Whether a trial is going on."""
        self.rests_until = 0.0
        """It said that it is busy until then."""
        self.running = 0
        self.starting: set[asyncio.Timeout] = set()
        """Requests that have got nothing of their answers yet, each by its deadline."""
        self.news = asyncio.Event()
        """Set when it should be looked at before its turn."""
        self._most = settings.concurrency
        self._gauge = meter.running(self.place)

    def takes(self, now: float, *, unsparing: bool = False) -> bool:
        """Whether it takes a request. `unsparing`: also while its breaker is open."""
        if self.out is not None or self.running >= self._most or now < self.rests_until:
            return False
        return self.breaker.closed or unsparing or (self.breaker.trial_due(now) and not self.trying)

    def enter(self) -> "Lease":
        """It gets a request."""
        self.running += 1
        self._gauge.inc()
        lease = Lease(self, trial=not self.breaker.closed)
        self.trying = self.trying or lease.trial
        return lease

    def leave(self, lease: "Lease") -> None:
        """A request has left it."""
        self.running -= 1
        self._gauge.dec()
        if lease.trial:
            self.trying = False

    def abandon(self) -> None:
        """Have the requests that wait for it tried elsewhere, now."""
        for deadline in self.starting:
            deadline.reschedule(ABANDONED)

    def told(self) -> ReplicaState:
        """How it is, for people."""
        ready = self.out is None and self.breaker.closed
        state = self.out or ("ready" if ready else "gets one request at a time until one goes well")
        version = self.facts.version if self.facts else None
        return ReplicaState(self.place, ready, state, self.running, version, self.findings)


@dataclass(frozen=True, slots=True)
class Lease:
    """A request's place at a replica. `trial`: it shows whether a replica that failed is well again."""

    replica: Replica
    trial: bool
