"""Several engines of one model as one: shares requests out among them, and keeps a request alive when one of them fails."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

from gateway.backends.base import EngineFacts, ReplicaState, broke_off
from gateway.chat.events import Piece
from gateway.chat.flow import Reads
from gateway.chat.plan import Plan
from gateway.errors import BackendTimeout, BackendUnavailable
from gateway.settings import PoolSettings
from gateway.telemetry.replicas import PoolMeter

from .agreement import Agreement
from .members import Members
from .replica import Engine, Replica
from .routing import of_conversation
from .serving import Serving
from .watch import Watch

__all__ = ["Agreement", "Engine", "PoolBackend"]

RETIRING = 1.0
"""Seconds between two looks at whether the last request has ended."""


class PoolBackend:
    """A Backend of Backends. `holds`: whether requests wait while all replicas are out."""

    def __init__(
        self, engines: Sequence[Engine], settings: PoolSettings, meter: PoolMeter, *, agreement: Agreement, holds: bool = True
    ) -> None:
        first = engines[0]
        self.name, self.dialect, self.takes_token_ids = first.name, first.dialect, first.takes_token_ids
        self._replicas = [Replica(engine, settings, meter) for engine in engines]
        self._members = Members(self._replicas, settings, meter, holds=holds)
        self._agreement = agreement
        self._watches = [Watch(replica, self._members, agreement) for replica in self._replicas]
        self._tasks: list[asyncio.Task[None]] = []
        for replica in self._replicas:
            replica.engine.broke_off = partial(self._broke_off, replica)

    def stream(self, plan: Plan) -> AbstractAsyncContextManager[Reads[list[Piece]]]:
        """Generate; see Backend. An attempt that has given no piece yet is made again elsewhere when it fails."""
        key = of_conversation(plan) if self._members.settings.affinity and len(self._replicas) > 1 else None
        return Serving(self._members, key, lambda engine: engine.stream(plan))

    def forward(self, path: str, body: Mapping[str, Any]) -> AbstractAsyncContextManager[Reads[bytes]]:
        """The least busy replica's own answer; see Forwards."""
        return Serving(self._members, None, lambda engine: engine.forward(path, body))

    async def count_tokens(self, text: str) -> int:
        """What the least busy replica says."""
        problem: BackendUnavailable | BackendTimeout = BackendUnavailable("No engine of this model can be asked now.")
        for replica in sorted((each for each in self._replicas if each.out is None), key=lambda each: each.running):
            try:
                return await replica.engine.count_tokens(text)
            except (BackendUnavailable, BackendTimeout) as error:
                replica.news.set()
                problem = error
        raise problem

    async def facts(self) -> EngineFacts:
        """What holds for all replicas; BackendUnavailable when none can be used. From the first time that one can be, they are
        watched."""
        told = await asyncio.gather(*(replica.engine.facts() for replica in self._replicas), return_exceptions=True)
        agreed = self._agreement.settle(facts for facts in told if isinstance(facts, EngineFacts))
        await asyncio.gather(*map(self._introduce, self._watches, told))
        if agreed is None or all(replica.out is not None for replica in self._replicas):
            raise BackendUnavailable("; ".join(map(_complaint, self._replicas)) + ".")
        if not self._tasks:
            self._tasks = [asyncio.create_task(watch.run()) for watch in self._watches]
        return agreed

    async def healthy(self) -> bool:
        """Whether a replica that gets requests says that it is well."""
        watches = [watch for watch in self._watches if watch.replica.out is None]
        return any(await asyncio.gather(*(watch.look() for watch in watches)))

    def replicas(self) -> tuple[ReplicaState, ...]:
        """How each replica is now."""
        return tuple(replica.told() for replica in self._replicas)

    def changed(self) -> bool:
        """Whether all replicas serve something else than was agreed on; see Changes."""
        said = [replica.said for replica in self._replicas if replica.said is not None]
        return len(said) == len(self._replicas) and self._agreement.outdated_by(said)

    def announce(self) -> None:
        """Tell from now on which replicas are in; see Changes."""
        self._members.announce()

    async def retire(self) -> None:
        """Stop watching, and wait for the last request."""
        self._members.meter.quiet = True
        await self._unwatched()
        while self._members.busy:  # noqa: ASYNC110  # nobody waits for this, so that now and then is soon enough
            await asyncio.sleep(RETIRING)

    async def close(self) -> None:
        """Stop watching, and let go of all replicas."""
        await self._unwatched()
        await asyncio.gather(*(replica.engine.close() for replica in self._replicas))

    async def _unwatched(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _broke_off(self, replica: Replica) -> None:
        """Called in the task of the request whose answer it was."""
        if (places := broke_off.get()) is not None:
            places.add(replica.place)
        self._members.went_wrong(replica, "broke_off")

    async def _introduce(self, watch: Watch, told: EngineFacts | BaseException) -> None:
        if isinstance(told, EngineFacts):
            await watch.judge(told)
        elif isinstance(told, Exception):
            self._members.put_out(watch.replica, str(told).rstrip("."), "unhealthy")
        else:
            raise told


def _complaint(replica: Replica) -> str:
    why = replica.out or ""
    return why if replica.place in why else f"{replica.place}: {why}"
