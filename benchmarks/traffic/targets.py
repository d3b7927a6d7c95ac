"""What clients connect to while the gateway is measured: the engine itself, nginx, and the gateway in a process of its own."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
PATIENCE = 120.0
TOOL = {
    "type": "function",
    "function": {
        "name": "write_file",
        "description": "Write a text file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}, "text": {"type": "string"}},
            "required": ["path", "text"],
        },
    },
}
CHAT = {"model": "bench", "messages": [{"role": "user", "content": "Write the report, please."}], "tools": [TOOL]}
RAW = {"model": "bench", "prompt": "Write the report, please."}
NGINX = """\
worker_processes 1; daemon off; pid {home}/nginx.pid; error_log {home}/nginx.log warn;
events {{ worker_connections 8192; }}
http {{
  access_log off; client_body_temp_path {home}/b; proxy_temp_path {home}/p; fastcgi_temp_path {home}/f;
  uwsgi_temp_path {home}/u; scgi_temp_path {home}/s; keepalive_requests 1000000;
  upstream engine {{ server 127.0.0.1:{engine}; keepalive 2000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_pass http://engine; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }}
  }}
}}
"""


@dataclass(frozen=True)
class Target:
    """What clients connect to: its port, its processes, and what it is asked."""

    name: str
    port: int
    path: str
    body: dict[str, Any]
    pid: int = 0
    """Of its first process; 0 = it is not measured."""

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        return sum(sum(map(int, _stat(pid)[11:13])) for pid in self._pids()) / TICKS

    def memory(self) -> float:
        """MB of resident memory."""
        return sum(int(_stat(pid)[21]) for pid in self._pids()) * PAGE / 2**20

    def _pids(self) -> list[int]:
        if not self.pid:
            return []
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


@dataclass(frozen=True)
class Engine:
    """The engine behind every target."""

    port: int

    def ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, int]:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data, timeout=10) as answer:
            told: dict[str, int] = json.load(answer)
            return told


@contextmanager
def gateway(home: Path, engine: Engine, tokenizer: str | None) -> Iterator[Target]:
    port = free_port()
    entry = {
        "name": "bench", "backend": "vllm", "urls": [f"http://127.0.0.1:{engine.port}"], "parser": "hermes",
        "chat_template": "toolwire/hermes", "tokenizer": tokenizer,
    }  # fmt: skip
    config = home / "toolwire.yaml"
    config.write_text(json.dumps({"models": [{key: value for key, value in entry.items() if value}]}), encoding="utf-8")
    command = [sys.executable, "-m", "gateway", "serve", "--config", str(config), "--port", str(port), "--log-level", "info"]
    with process(command, port) as running:
        yield Target("toolwire", port, "/v1/chat/completions", CHAT, running.pid)


@contextmanager
def nginx(home: Path, engine: Engine) -> Iterator[Target]:
    port = free_port()
    config = home / "nginx.conf"
    config.write_text(NGINX.format(home=home, engine=engine.port, port=port), encoding="utf-8")
    with process(["nginx", "-c", str(config)], port) as running:
        yield Target("nginx", port, "/v1/completions", RAW, running.pid)


@contextmanager
def process(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server of ours, once it can be connected to and until the block is left."""
    with tempfile.TemporaryFile() as log:
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        try:
            if not _listens(port, running):
                log.seek(0)
                raise SystemExit(f"{command} did not start: {log.read().decode(errors='replace')[-2000:]}")
            yield running
        finally:
            running.terminate()
            running.wait(PATIENCE)


def _listens(port: int, running: subprocess.Popen[bytes]) -> bool:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and running.poll() is None:
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.1)
    return False


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
