"""The replicas of one model together: who is in, who is out and why. Every change of that is made, logged and counted here."""

import asyncio
import logging
from collections.abc import Sequence, Set

from gateway.backends.base import EngineFacts, Finding
from gateway.settings import PoolSettings
from gateway.telemetry.replicas import PoolMeter

from .line import Line
from .replica import Replica

OTHER_MODEL = "other_model"
"""Why a replica is put out that is well, but is not what it should be."""
log = logging.getLogger(__name__)


class Members:
    """`holds`: whether requests wait while all replicas are out."""

    def __init__(self, replicas: Sequence[Replica], settings: PoolSettings, meter: PoolMeter, *, holds: bool) -> None:
        self.replicas = replicas
        self.settings = settings
        self.meter = meter
        self.line = Line(replicas, settings, meter, holds=holds)
        for replica in replicas:
            meter.up(replica.place, 0)

    def announce(self) -> None:
        """Tell from now on who is in."""
        self.meter.quiet = False
        for replica in self.replicas:
            self.meter.up(replica.place, int(replica.told().ready))

    def let_in(self, replica: Replica, facts: EngineFacts, findings: tuple[Finding, ...]) -> None:
        """It serves the model: it gets requests from now on."""
        for finding in findings:
            if finding not in replica.findings and finding.status != "pass":
                log.warning("model %s, replica %s: %s %s", self.meter.model, replica.place, finding.message, finding.remedy)
        replica.facts, replica.findings = facts, findings
        if replica.out is None:
            return
        log.info("model %s: replica %s is in", self.meter.model, replica.place)
        replica.out = None
        replica.breaker.reset()
        self.meter.up(replica.place, 1)
        self.line.changed()

    def put_out(self, replica: Replica, why: str, cause: str) -> None:
        """It gets no more requests, until it is let in. Those that it has are left to it."""
        if cause != OTHER_MODEL:
            replica.said = None
        if replica.out == why:
            return
        log.warning("model %s: replica %s is out: %s", self.meter.model, replica.place, why)
        if replica.out is None:
            self.meter.up(replica.place, 0)
        if replica.out is None or cause == OTHER_MODEL:  # which is news also of one that was away
            self.meter.ejected(replica.place, cause)
        replica.out = why
        self.line.changed()

    def went_well(self, replica: Replica) -> None:
        """A request got its first piece."""
        spared = not replica.breaker.closed
        replica.breaker.succeeded()
        if spared:
            log.info("model %s: replica %s is well again", self.meter.model, replica.place)
            self.meter.up(replica.place, 1)
            self.line.changed()

    def went_wrong(self, replica: Replica, cause: str) -> None:
        """A request failed by no fault of its own. The last replica is never spared for that: any is better than none."""
        replica.news.set()
        too_often = replica.breaker.failed()
        if not too_often or replica.out is not None or not self._others(replica):
            return
        now = asyncio.get_running_loop().time()
        if replica.breaker.closed:
            log.warning("model %s: replica %s is spared, too many requests failed", self.meter.model, replica.place)
            self.meter.up(replica.place, 0)
            self.meter.ejected(replica.place, cause)
        replica.breaker.open(now)
        assert replica.breaker.until is not None
        self.line.later(replica.breaker.until - now)

    def rest(self, replica: Replica, seconds: float) -> None:
        """It said that it is busy for so long."""
        replica.rests_until = asyncio.get_running_loop().time() + seconds
        self.line.later(seconds)

    @property
    def busy(self) -> bool:
        """Whether any request runs or waits."""
        return bool(self.line) or any(replica.running for replica in self.replicas)

    def fresh(self, tried: Set[Replica]) -> bool:
        """Whether one that has not been tried takes a request now."""
        now = asyncio.get_running_loop().time()
        return any(replica not in tried and replica.takes(now) for replica in self.replicas)

    def _others(self, replica: Replica) -> bool:
        return any(other is not replica and other.out is None and other.breaker.closed for other in self.replicas)
