"""Looks after one replica: asks it whether it is well, and what it serves once it is."""

import asyncio
import random

from gateway.backends.base import EngineFacts
from gateway.errors import GatewayError

from .agreement import Agreement
from .members import OTHER_MODEL, Members
from .replica import Replica

EARLY, LATE = 0.8, 1.2
"""Gateways that start together do not ask together."""
LEAST = 0.1
"""Seconds between two questions at least, whatever news there is."""
SOON = 0.5
"""Seconds after a bad answer until the next question."""
FACTS_EVERY = 6
"""With so many questions about its health, one is asked about what it serves: it may have been restarted in between."""
SLOW_FACTS = 3
"""So many times the patience for a health answer is had with the others: an engine that has just started is slow."""


class Watch:
    """One replica's. `run` until cancelled."""

    def __init__(self, replica: Replica, members: Members, agreement: Agreement) -> None:
        self.replica = replica
        self._members = members
        self._agreement = agreement
        self._bad = 0
        self._good = 0
        self._examined = False
        """Since it was last away."""
        self._lock = asyncio.Lock()

    async def run(self) -> None:
        """Look now and then, and whenever there is news."""
        while True:
            await asyncio.sleep(LEAST)
            await self._pause()
            await self.look()

    async def look(self) -> bool:
        """Whether it is well now, and serves what it should."""
        async with self._lock:
            newly = self.replica.news.is_set()
            self.replica.news.clear()
            if not await self._well():
                self._note_bad()
                return False
            self._bad = 0
            self._good += 1
            if newly or self.replica.out is not None or self._good % FACTS_EVERY == 0:
                await self._compare()
            return self.replica.out is None

    async def judge(self, facts: EngineFacts) -> None:
        """Let it in or put it out, by what it says that it serves."""
        replica, members = self.replica, self._members
        replica.said = facts
        objection = self._agreement.objection(facts)
        if objection is not None:
            members.put_out(replica, objection, OTHER_MODEL)
            replica.abandon()
            return
        replica.engine.model = self._agreement.model
        findings = replica.findings
        if members.settings.examine and not (self._examined and replica.facts == facts):
            findings = await replica.engine.examine()
            self._examined = True
        members.let_in(replica, facts, (*self._agreement.remarks(facts), *(f for f in findings if f.id != "E003")))

    async def _pause(self) -> None:
        health = self._members.settings.health
        seconds = SOON if 0 < self._bad < health.failures else health.interval * random.uniform(EARLY, LATE)
        try:
            async with asyncio.timeout(seconds):
                await self.replica.news.wait()
        except TimeoutError:
            pass

    async def _well(self) -> bool:
        try:
            async with asyncio.timeout(self._members.settings.health.timeout):
                return await self.replica.engine.healthy()
        except TimeoutError:
            return False

    def _note_bad(self) -> None:
        self._bad += 1
        self.replica.engine.hang_up_silent()
        if self._bad >= self._members.settings.health.failures:
            self._members.put_out(self.replica, "does not answer /health", "unhealthy")
            self.replica.abandon()
            self._examined = False

    async def _compare(self) -> None:
        try:
            async with asyncio.timeout(self._members.settings.health.timeout * SLOW_FACTS):
                await self.judge(await self.replica.engine.facts())
        except (TimeoutError, GatewayError) as error:
            if self.replica.out is None:
                self._note_bad()
                return
            why = error.message.rstrip(".") if isinstance(error, GatewayError) else "does not tell in time what it serves"
            self._members.put_out(self.replica, why, "unhealthy")
