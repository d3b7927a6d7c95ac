"""The real application on a free loopback port, as clients meet it."""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from gateway.app import Application, create_app
from gateway.app.connections import http_with, websockets_with
from gateway.settings import Settings

PATIENCE = 60.0
"""Seconds for what takes none on an idle machine; what must not happen at all takes longer than this."""
STARTING = 180.0
"""Seconds for the gateway to start: on a machine with much else to do, a model's template alone takes some."""


SLOW_TURN: dict[str, Any] = {"match": "slow", "pieces": ["word "] * 10_000, "delay_ms": 25}
"""A turn that ends by itself long after everybody's patience: whatever of it ends sooner was stopped."""


CLIENT = httpx.Client(timeout=PATIENCE, limits=httpx.Limits(max_keepalive_connections=0))
"""For the questions of tests. To make a client for each takes longer than most answers; no connection is kept, either."""


@dataclass(frozen=True)
class Gateway:
    """A running gateway: its address, and the application inside for what cannot be asked over HTTP."""

    url: str
    app: Application

    @property
    def base_url(self) -> str:
        """What the official clients are given."""
        return f"{self.url}/v1"

    def post(self, body: Any = None, **more: Any) -> httpx.Response:
        """One chat completion request, as JSON unless `content` is given."""
        fields = more if "content" in more else {"json": body, **more}
        return CLIENT.post(f"{self.base_url}/chat/completions", **fields)

    def running(self) -> float:
        """Generations going on now."""
        samples = [sample for metric in self.app.house.metrics.running.collect() for sample in metric.samples]
        return sum(sample.value for sample in samples)

    def wait_until_idle(self, seconds: float = PATIENCE) -> bool:
        """Whether all generations end within this time."""
        return wait_for(lambda: self.running() == 0, seconds)


def wait_for(condition: Any, seconds: float = PATIENCE) -> bool:
    """Whether the condition becomes true within this time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@contextmanager
def serving(settings: Settings | Mapping[str, Any]) -> Iterator[Gateway]:
    """The gateway with these settings, until the block is left."""
    known = settings if isinstance(settings, Settings) else Settings.model_validate(settings)
    app = create_app(known)
    wires = {"http": http_with(known.server.write_timeout), "ws": websockets_with(known.server.write_timeout)}
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=2, **wires))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        assert wait_for(lambda: server.started or not thread.is_alive(), STARTING)
        assert server.started, "the gateway did not start"
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Gateway(f"http://127.0.0.1:{port}", app)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


def replay_model(folder: Path, turns: Sequence[Mapping[str, Any]], **entry: Any) -> dict[str, Any]:
    """A model's entry that plays these turns, written into the folder; a Hermes model unless told otherwise."""
    name = entry.pop("name", "scripted")
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
    return {"name": name, "backend": "replay", "turns": str(path), "parser": "hermes", **entry}
