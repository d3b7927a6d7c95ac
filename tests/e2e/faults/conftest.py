"""A gateway in front of two engines, all in processes of their own."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.faults.clients import ask
from tests.support.engines import EngineProcess, engine_processes
from tests.support.process import GatewayProcess, gateway_process
from tests.support.server import wait_for
from tests.support.tokenizers import byte_level

QUICK: dict[str, Any] = {
    "health": {"interval": 0.3, "timeout": 3.0},
    "breaker": {"pause": 0.2, "longest_pause": 0.5},
    "queue": {"wait": 20},
}


@dataclass(frozen=True)
class Site:
    """What an operator has: a gateway and its engines."""

    gateway: GatewayProcess
    engines: list[EngineProcess]

    def running(self) -> int:
        """Generations at all engines that answer."""
        return sum(engine.running() for engine in self.engines)

    def asked(self) -> int:
        """Requests that the engines have got so far."""
        return sum(engine.told().asked for engine in self.engines)

    def all_in(self) -> bool:
        """Whether the gateway uses all engines. Asks a little, by which one that failed can show that it is well again."""
        for number in range(3):
            ask(self.gateway.url, text=f"{time.monotonic()} {number}")
        return all(one["state"] == "ready" for one in self.gateway.ready().json()["replicas"]["m"])


def entry(folder: Path, engines: list[EngineProcess], **pool: Any) -> dict[str, Any]:
    """A model's entry on these engines; `pool` changes its settings."""
    tokenizer = str(byte_level(folder / "tokenizer"))
    urls = [engine.url for engine in engines]
    named = {"tokenizer": tokenizer, "chat_template": "toolwire/hermes"}
    return {"name": "m", "backend": "vllm", "urls": urls, **named, "pool": {**QUICK, **pool}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with engine_processes(2) as engines:
        narrow = {**entry(folder, engines[:1], concurrency=1, attempts=10), "name": "narrow"}
        with gateway_process(folder, {"models": [entry(folder, engines), narrow]}) as gateway:
            yield Site(gateway, engines)


@pytest.fixture
def site(shared: Site) -> Iterator[Site]:
    """The module's, with both engines well before each test, and nothing left behind after it."""
    yield shared
    for engine in shared.engines:
        engine.revive()
    assert wait_for(shared.all_in), shared.gateway.ready().text
    assert shared.gateway.idle(), "a request is still there"
