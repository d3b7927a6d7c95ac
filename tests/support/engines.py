"""Scripted engines in processes of their own: to be killed, frozen and started again like any other server."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import httpx

from tests.support.engine import Script, Told
from tests.support.server import CLIENT, wait_for

ROOT = Path(__file__).parents[2]


class EngineProcess:
    """One in a process of its own, which can be killed, stopped and started again at the same address."""

    def __init__(self, script: Script) -> None:
        self._script = script
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **changes: Any) -> None:
        """Run, with some of the script changed; returns once it answers."""
        self._script = replace(self._script, **changes)
        command = [sys.executable, "-m", "tests.support.engine", str(self.port), json.dumps(asdict(self._script))]
        self._process = subprocess.Popen(command, cwd=ROOT)
        assert wait_for(self._answers), "the engine did not start"

    def play(self, **changes: Any) -> None:
        """Go on with another script."""
        CLIENT.post(f"{self.url}/script", json=changes).raise_for_status()

    def told(self) -> Told:
        """What it was asked."""
        return Told(**CLIENT.get(f"{self.url}/told").json())

    def running(self) -> int:
        """Generations that go on."""
        return self.told().running

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Its connections stay, and nothing comes any more."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def revive(self) -> None:
        """As it was at first, whatever has been done to it."""
        if self._process is None:
            self.start()
        else:
            self.thaw()
            self.play(**asdict(self._script))

    def _answers(self) -> bool:
        try:
            return CLIENT.get(f"{self.url}/health", timeout=1).status_code == 200
        except httpx.HTTPError:
            return False


@contextmanager
def engine_processes(count: int, **script: Any) -> Iterator[list[EngineProcess]]:
    """So many engines with the same script, running until the block is left."""
    engines = [EngineProcess(Script(**script)) for _ in range(count)]
    try:
        for engine in engines:
            engine.start()
        yield engines
    finally:
        for engine in engines:
            engine.kill()
