"""The gateway in a process of its own, as an operator starts it: to be told to stop, and to have its files and memory counted."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.support.server import CLIENT, PATIENCE, wait_for

ROOT = Path(__file__).parents[2]


class GatewayProcess:
    """One that listens. `url` has no /v1."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        config = folder / f"toolwire-{time.monotonic_ns()}.yaml"
        config.write_text(yaml.safe_dump(dict(settings)), encoding="utf-8")
        self.log = config.with_suffix(".log")
        command = [sys.executable, "-m", "gateway", "serve", "--port", "0", "--config", str(config)]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT)
        self.url = self._address()

    def post(self, body: Any, path: str = "/v1/chat/completions", **more: Any) -> httpx.Response:
        """One request."""
        return CLIENT.post(self.url + path, json=body, **more)

    def ready(self) -> httpx.Response:
        """What it says of itself."""
        return CLIENT.get(f"{self.url}/ready")

    def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric's values that have these labels."""
        found = 0.0
        for line in CLIENT.get(f"{self.url}/metrics").text.splitlines():
            sample = re.fullmatch(rf"{name}(?:\{{(.*)\}})? (\S+)", line)
            if sample and all(f'{key}="{value}"' in (sample[1] or "") for key, value in labels.items()):
                found += float(sample[2])
        return found

    def idle(self, seconds: float = PATIENCE) -> bool:
        """Whether no request runs or waits any more, within this time."""
        names = ("toolwire_requests_running", "toolwire_replica_requests_running", "toolwire_queue_requests_waiting")
        return wait_for(lambda: not any(self.metric(name) for name in names), seconds)

    def signal(self, number: int = signal.SIGTERM) -> None:
        """Tell it something."""
        self._process.send_signal(number)

    def ended(self, seconds: float) -> int | None:
        """Its exit code, once it has ended; None if it has not within this time."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def files(self) -> int:
        """Open files and sockets."""
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))

    def memory(self) -> int:
        """Bytes of memory that it really uses."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def kill(self) -> None:
        """End it without a word."""
        self._process.kill()
        self._process.communicate()

    def _address(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("Listening on "):
                return line.split()[2].removesuffix("/v1")
        raise AssertionError(self.log.read_text(errors="replace")[-4000:])


@contextmanager
def gateway_process(folder: Path, settings: Mapping[str, Any]) -> Iterator[GatewayProcess]:
    """A gateway with these settings, until the block is left."""
    gateway = GatewayProcess(folder, settings)
    try:
        yield gateway
    finally:
        gateway.kill()
