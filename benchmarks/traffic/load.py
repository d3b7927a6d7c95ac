"""Clients that ask again as soon as they are answered: `python -m benchmarks.traffic.load`, a Load as JSON on standard input.

They read no more of an answer than where it begins, how many events it has and where it ends. The result is one JSON object.
"""

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import cast

from benchmarks.traffic.engine import FIRST
from benchmarks.traffic.run import run

STREAM_END = b"0\r\n\r\n"
EVENT = b"data: "
CHUNKED = -1
"""The length of a body whose end shows in it."""


@dataclass(frozen=True)
class Load:
    """What is asked, by how many clients at once, for how many seconds; the first `warm` of them are not counted."""

    port: int
    path: str
    body: dict[str, object]
    clients: int
    seconds: float
    warm: float = 1.0
    leave_after: float = 0.0
    """Seconds after which each client hangs up instead of waiting for its end; 0 = it waits."""


@dataclass
class Seen:
    """What the clients saw. Times are milliseconds, and unsorted."""

    requests: int = 0
    events: int = 0
    first: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)

    def failed(self, why: str) -> None:
        self.errors[why] = self.errors.get(why, 0) + 1


class Client(asyncio.Protocol):
    """One connection, kept alive where the server keeps it."""

    def __init__(self, request: bytes, seen: Seen) -> None:
        self._request, self._seen = request, seen
        self.counts = False
        self.over: asyncio.Future[None]
        self._head = b""
        self._length: int | None = None
        """Of the body; None until it is known."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def ask(self) -> asyncio.Future[None]:
        """Send the request; the future is done when its answer is."""
        self.over = asyncio.get_running_loop().create_future()
        self._head, self._length = b"", None
        self._began, self._first, self._events, self._got = time.perf_counter(), 0.0, 0, 0
        self.transport.write(self._request)
        return self.over

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.over.done():
            self._seen.failed("the connection was closed before the answer was there")
            self.over.set_result(None)

    def data_received(self, data: bytes) -> None:
        if self._length is None:
            self._head += data
            head, found, data = self._head.partition(b"\r\n\r\n")
            if not found:
                return
            self._note(head)
        self._take(data)

    def _note(self, head: bytes) -> None:
        if not head.startswith(b"HTTP/1.1 200"):
            self._seen.failed(head.split(b"\r\n")[0].decode("latin-1"))
        lines = head.lower().split(b"\r\n")
        self._length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), CHUNKED)

    def _take(self, body: bytes) -> None:
        if not self._first and FIRST.encode() in body:
            self._first = time.perf_counter()
        self._events += body.count(EVENT)
        self._got += len(body)
        if body.endswith(STREAM_END) if self._length == CHUNKED else self._got >= (self._length or 0):
            self._end()

    def _end(self) -> None:
        now = time.perf_counter()
        if self.counts:
            self._seen.requests += 1
            self._seen.events += self._events
            self._seen.first.append(((self._first or now) - self._began) * 1000)
            self._seen.total.append((now - self._began) * 1000)
        if not self.over.done():
            self.over.set_result(None)


async def one(load: Load, request: bytes, seen: Seen, *, begin: float, until: float) -> None:
    """One client's whole life."""
    loop = asyncio.get_running_loop()
    connect = lambda: loop.create_connection(lambda: Client(request, seen), "127.0.0.1", load.port)  # noqa: E731
    _, client = await connect()
    while (now := loop.time()) < until:
        client.counts = now >= begin
        waiting = client.ask()
        if not load.leave_after:
            await waiting
        else:
            await asyncio.sleep(load.leave_after)
            client.over.cancel()
            client.transport.abort()
            return
        if client.transport.is_closing():
            _, client = await connect()
    client.transport.abort()


async def main(load: Load) -> Seen:
    """What all clients saw."""
    body = json.dumps(load.body).encode()
    head = (
        f"POST {load.path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    seen = Seen()
    now = asyncio.get_running_loop().time()
    times = {"begin": now + load.warm, "until": now + load.warm + load.seconds}
    async with asyncio.TaskGroup() as group:
        for _ in range(load.clients):
            group.create_task(one(load, head.encode() + body, seen, **times))
            await asyncio.sleep(min(0.002, load.warm / load.clients))
    return seen


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(run(main(Load(**json.load(sys.stdin)))))))
