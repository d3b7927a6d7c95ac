"""One request's way through the pool: attempt after attempt until its first piece, and then nothing in between any more."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Self, TypeVar

from gateway.backends.base import broke_off
from gateway.chat.flow import Item, Reads, Shortcut, Take
from gateway.errors import (
    BackendBusy,
    BackendError,
    BackendGarbled,
    BackendOverloaded,
    BackendRefused,
    BackendTimeout,
    BackendUnavailable,
    GatewayError,
)

from .members import Members
from .replica import ABANDONED, Engine, Lease, Replica

Result = TypeVar("Result")
Open = Callable[[Engine], AbstractAsyncContextManager[Reads[Item]]]
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Seconds before a replica that failed is asked again because there is no other: doubled from the one up to the other."""
LONGEST_REST = 2.0
"""Seconds for which a replica that says it is busy is left alone, at most."""
ELSEWHERE_ONLY = ("busy", "misconfigured", "timeout")
"""What the same replica would only say again, or would begin anew with."""


class Serving(Reads[Item]):
    """Entered once a replica has accepted the request (GatewayError when none does), it gives what that one gives.

    An attempt that fails before its first item is made again, at another replica where there is one; after that item, nothing
    stands between. Left, at any point, the request is over.
    """

    def __init__(self, members: Members, key: bytes | None, open_: Open[Item]) -> None:
        settings = members.settings
        self._members = members
        self._key = key
        self._open = open_
        self._until = asyncio.get_running_loop().time() + settings.total_timeout
        self._left = settings.attempts
        avoided = broke_off.get()
        self._tried = {replica for replica in members.replicas if replica.place in avoided} if avoided else set()
        self._suspects: list[Replica] = []
        """They failed the request, but that may be the request's own fault."""
        self._lease: Lease | None = None
        self._ends = 0.0
        """When the attempt has taken too long."""
        self._engine: AbstractAsyncContextManager[Reads[Item]] | None = None
        """What has been opened of it."""
        self._reads: Reads[Item]
        self._begun = False
        """It has given its first item."""

    def __anext__(self) -> Awaitable[Item]:  # type: ignore[override]
        return self._reads.__anext__() if self._begun else self._first()

    async def run(self, take: Take[Item], shortcut: Shortcut | None = None) -> None:
        """Give everything to `take`; see Reads."""
        if not self._begun and (wait := take(await self._first())) is not None:
            await wait()
        await self._reads.run(take, shortcut)

    async def __aenter__(self) -> Self:
        try:
            await self._begin()
        except BaseException:  # also when nobody waits any more: what was not entered is not left either
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self._close()
        finally:
            if self._lease is not None:
                self._members.line.give_back(self._lease)
                self._lease = None

    async def _close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.__aexit__(None, None, None)

    async def _begin(self) -> None:
        while True:
            self._lease = await self._members.line.take(self._key, until=self._until, tried=self._tried)
            now = asyncio.get_running_loop().time()
            self._ends = min(self._until, now + self._members.settings.attempt_timeout)
            try:
                opened = self._open(self._lease.replica.engine)
                self._reads = await self._within(opened.__aenter__())
                self._engine = opened
                return
            except GatewayError as error:
                await self._lost(error)

    async def _first(self) -> Item:
        while True:
            try:
                item = await self._within(self._one())
            except GatewayError as error:
                await self._lost(error)
                await self._begin()
            else:
                self._won()
                self._begun = True
                return item

    async def _one(self) -> Item:
        try:
            return await anext(self._reads)
        except StopAsyncIteration:
            raise BackendGarbled("The engine's answer ended before it began.") from None

    async def _within(self, work: Awaitable[Result]) -> Result:
        """What the attempt gives, unless it takes too long or its replica is given up."""
        assert self._lease is not None
        replica, deadline = self._lease.replica, asyncio.timeout_at(self._ends)
        try:
            async with deadline:
                replica.starting.add(deadline)
                try:
                    return await work
                finally:
                    replica.starting.discard(deadline)
        except TimeoutError:
            if deadline.when() == ABANDONED:
                raise BackendUnavailable(f"The engine at {replica.place} no longer answers.") from None
            raise BackendTimeout(f"The engine at {replica.place} did not begin to answer in time.") from None

    def _won(self) -> None:
        assert self._lease is not None
        self._members.went_well(self._lease.replica)
        for replica in self._suspects:
            self._members.went_wrong(replica, "failed")

    async def _lost(self, error: GatewayError) -> None:
        """Returns when the request is to be tried again; else raises the error."""
        await self._close()
        lease, self._lease = self._lease, None  # only now: until here, whoever is cancelled still has it to give back
        assert lease is not None
        cause = cause_of(error)
        self._blame(lease.replica, cause, error)
        self._members.line.give_back(lease)
        self._tried.add(lease.replica)
        self._left -= 1
        fresh = self._members.fresh(self._tried)
        pause = 0.0 if fresh else self._pause()
        late = asyncio.get_running_loop().time() + pause >= self._until
        if cause is None or self._left <= 0 or late or (cause in ELSEWHERE_ONLY and not fresh):
            self._lost_for_good()
            raise error
        self._members.meter.retried(cause)
        await asyncio.sleep(pause)

    def _blame(self, replica: Replica, cause: str | None, error: GatewayError) -> None:
        members = self._members
        match cause:
            case None:
                members.went_well(replica)  # it has judged the request
            case "busy":
                members.rest(replica, min(error.retry_after or 0.0, LONGEST_REST))
            case "failed":
                self._suspects.append(replica)
            case "unreachable" | "misconfigured":
                replica.news.set()
                if replica.out is None:
                    members.put_out(replica, error.message.rstrip("."), cause)
            case _:
                members.went_wrong(replica, cause)

    def _lost_for_good(self) -> None:
        """A request that no replica can answer says nothing about any of them, unless there is but one."""
        if len(self._members.replicas) == 1:
            for replica in self._suspects:
                self._members.went_wrong(replica, "failed")

    def _pause(self) -> float:
        made = self._members.settings.attempts - self._left
        return random.uniform(0.5, 1.0) * min(LONGEST_PAUSE, FIRST_PAUSE * float(2 ** (made - 1)))


def cause_of(error: GatewayError) -> str | None:
    """Why an attempt failed, in one of a few words; None when any replica would say the same."""
    kinds: tuple[tuple[type[GatewayError], str], ...] = (
        (BackendBusy, "busy"),
        (BackendOverloaded, "busy"),
        (BackendTimeout, "timeout"),
        (BackendUnavailable, "unreachable"),
        (BackendGarbled, "broke_off"),
    )
    for kind, cause in kinds:
        if isinstance(error, kind):
            return cause
    if isinstance(error, BackendRefused):
        return "misconfigured" if error.status >= 500 else None
    return "failed" if type(error) is BackendError else None
