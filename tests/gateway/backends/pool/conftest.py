"""Engines that play scripts, and a pool in front of them, all in one loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from gateway.app.pools import open_pool
from gateway.backends.pool import PoolBackend
from gateway.chat.events import Piece
from gateway.chat.plan import Plan
from gateway.settings import VllmModel
from gateway.telemetry.metrics import Metrics
from tests.support.engine import ScriptedEngine, playing

QUICK: dict[str, Any] = {"interval": 0.2, "timeout": 1.0}


class Pool:
    """A pool, its engines in the order of their addresses, and its metrics."""

    def __init__(self, backend: PoolBackend, engines: list[ScriptedEngine], metrics: Metrics, plan: Any) -> None:
        self.backend = backend
        self.engines = engines
        self._metrics = metrics
        self._plan = plan

    def plan(self, text: str = "Hi") -> Plan:
        """A request that begins a conversation with this text."""
        made: Plan = self._plan(messages=({"role": "user", "content": text},), ids=(1, 2, 3), max_tokens=9)
        return made

    async def ask(self, text: str = "Hi") -> str:
        """The text of an answer."""
        pieces: list[Piece] = []
        async with self.backend.stream(self.plan(text)) as reads:
            async for read in reads:
                pieces += read
        return "".join(piece.text for piece in pieces)

    async def asking(self, text: str = "Hi") -> "asyncio.Task[str]":
        """A request that goes on, as soon as an engine has got it or it waits in the queue."""
        before = self.asked()
        task = asyncio.create_task(self.ask(text))
        while self.asked() == before and not task.done():  # noqa: ASYNC110  # the engine tells it when asked
            await asyncio.sleep(0.005)
        return task

    def asked(self) -> int:
        """Requests that the engines got or that wait for one."""
        return sum(engine.told.asked for engine in self.engines) + int(self.counted("queue_requests_waiting"))

    def own(self, text: str) -> ScriptedEngine:
        """The engine that this conversation went to last."""
        return max(self.engines, key=lambda engine: engine.told.asked)

    def states(self) -> list[str]:
        """How the replicas are."""
        return [one.state for one in self.backend.replicas()]

    def counted(self, name: str, **labels: str) -> float:
        """A metric's value; all of them together where labels are left out."""
        wanted = {"model": "m", **labels}.items()
        samples = [sample for metric in self._metrics.registry.collect() for sample in metric.samples]
        return sum(each.value for each in samples if each.name == f"toolwire_{name}" and wanted <= each.labels.items())

    async def until(self, condition: Any, seconds: float = 60.0) -> None:
        """Wait for something to become true."""
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110  # any condition at all, as the engine tells it
                await asyncio.sleep(0.01)


class Pools:
    def __init__(self, plan: Any) -> None:
        self._plan = plan

    @asynccontextmanager
    async def __call__(
        self, *scripts: dict[str, Any], entry: dict[str, Any] | None = None, **settings: Any
    ) -> AsyncIterator[Pool]:
        """A pool of engines with these scripts. `settings` are those of the entry's `pool`."""
        async with AsyncExitStack() as stack:
            running = [await stack.enter_async_context(playing(**script)) for script in scripts]
            urls = [url for _, url in running]
            model = {"name": "m", "backend": "vllm", "urls": urls, "pool": {"health": QUICK, **settings}, **(entry or {})}
            metrics = Metrics()
            backend = open_pool(VllmModel.model_validate(model), metrics)
            stack.push_async_callback(backend.close)
            await backend.facts()
            yield Pool(backend, [engine for engine, _ in running], metrics, self._plan)


@pytest.fixture
def pools(kit: Any) -> Pools:
    return Pools(kit.plan)
