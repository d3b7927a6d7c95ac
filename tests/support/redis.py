"""A Redis server of our own on a free loopback port; its data stays in memory and goes with it."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.server import wait_for

PROGRAM = shutil.which("redis-server")
MISSING = "needs redis-server (on Debian and Ubuntu: apt-get install redis-server)"


@contextmanager
def redis_server(port: int | None = None, *, folder: Path | None = None) -> Iterator[str]:
    """The address of a fresh, empty server, until the block is left. `port`: where one was before. `folder`: where its data is
    kept; such a server is killed in the end."""
    assert PROGRAM is not None, MISSING
    port = port or _free_port()
    options = {"port": port, "bind": "127.0.0.1", "save": "", "appendonly": "no", "daemonize": "no"}
    if folder is not None:
        options |= {"dir": str(folder), "appendonly": "yes", "appendfsync": "always"}
    command = [PROGRAM, *(word for name, value in options.items() for word in (f"--{name}", str(value)))]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            assert wait_for(lambda: _listens(port)), "redis-server did not start"
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate() if folder is None else process.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", port)) == 0
