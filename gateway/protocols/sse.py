"""What every streaming protocol shares: frames, how they are sent, keep-alive, and the watch on the client."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Protocol, TypeVar

from gateway.chat.events import Batch, Usage
from gateway.chat.flow import Leave, Leaving, Take, Wait
from gateway.errors import GatewayError
from gateway.middleware.asgi import Receive
from parsers import Delta

from .answer import Answer, told, warning_headers
from .body import ClientGone

KEEP_ALIVE = b": keep-alive\n\n"
KEEP_ALIVE_SECONDS = 15.0
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
]

T = TypeVar("T")


class Running(Protocol):
    """An answer while it comes: a turn of the pipeline, or what stands around one."""

    @property
    def warnings(self) -> Sequence[str]: ...

    @property
    def usage(self) -> Usage: ...

    async def run(self, take: Take[list[Batch]], leaving: Leaving | None = None) -> None: ...


class Encoder(Protocol):
    """Writes one answer in a protocol's own frames. Empty bytes are not sent."""

    def opening(self) -> bytes: ...

    def encode(self, batches: Sequence[Batch]) -> bytes: ...

    def leave(self, kind: Delta, write: Callable[[bytes], Wait | None]) -> Leave | None:
        """What writes deltas of this kind that go on with what was written last, each as `encode` would; None: not without it."""
        ...

    def closing(self, usage: Usage | None) -> bytes: ...

    def failure(self, error: GatewayError) -> bytes: ...


async def while_connected(receive: Receive, answer: Answer, work: Awaitable[T]) -> T:
    """The result of `work`, which is cancelled at once when the client goes away before it has all of its answer; then
    ClientGone. Work that is left to do after the answer is done."""
    task = asyncio.current_task()
    assert task is not None
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        if not answer.ended:
            gone = True
            task.cancel()

    watching = asyncio.create_task(watch())
    try:
        return await work
    except asyncio.CancelledError:
        if not gone:
            raise
        task.uncancel()
        raise ClientGone from None
    finally:
        watching.cancel()


async def stream(
    turn: Running, encoder: Encoder, answer: Answer, *, keep_alive: float = KEEP_ALIVE_SECONDS, sign: bytes = KEEP_ALIVE
) -> None:
    """Send a whole stream: everything that one read of the engine gave leaves in one write. `sign`: sent when idle."""
    wire = _Wire(answer)
    await wire.start(warning_headers(turn.warnings), encoder.opening())
    with wire.kept_alive(keep_alive, sign):
        last = await _write_turn(turn, encoder, wire)
    await wire.end(last)


async def relay(
    frames: AsyncIterator[bytes], answer: Answer, *, warnings: Sequence[str] = (), keep_alive: float = KEEP_ALIVE_SECONDS
) -> None:
    """Send frames that were made elsewhere, each as it comes."""
    wire = _Wire(answer)
    await wire.start(warning_headers(warnings))
    with wire.kept_alive(keep_alive, KEEP_ALIVE):
        async for frame in frames:
            if (wait := wire.write(frame)) is not None:
                await wait()
    await wire.end(b"")


async def write_out(turn: Running, encoder: Encoder, write: Callable[[bytes], Wait | None]) -> None:
    """Give `write` what the encoder makes of a turn, as it comes; returns, or raises, when the turn does."""
    await turn.run(lambda batches: write(encoder.encode(batches)), lambda kind: encoder.leave(kind, write))


async def _write_turn(turn: Running, encoder: Encoder, wire: "_Wire") -> bytes:
    """Send the turn; what is left to be sent is its closing, or how it failed."""
    try:
        await write_out(turn, encoder, wire.write)
    except Exception as error:
        return encoder.failure(told(error))
    return encoder.closing(turn.usage)


class _Wire:
    """One response body, and whether something was sent lately."""

    def __init__(self, answer: Answer) -> None:
        self._send = answer
        self._direct = answer.direct
        self._idle = False
        """Nothing has been sent since the last look."""
        self._timer: asyncio.TimerHandle
        self._signs: set[asyncio.Future[None]] = set()
        """Signs of life on their way, where a write takes its time."""

    async def start(self, headers: list[tuple[bytes, bytes]], frames: bytes = b"") -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": HEADERS + headers})
        if (wait := self.write(frames)) is not None:
            await wait()

    def write(self, frames: bytes) -> Wait | None:
        """Send, and tell what must be waited for before more is sent."""
        if not frames:
            return None
        self._idle = False
        if self._direct is not None:
            return self._direct(frames)
        return partial(self._send, {"type": "http.response.body", "body": frames, "more_body": True})

    async def end(self, frames: bytes) -> None:
        await self._send({"type": "http.response.body", "body": frames, "more_body": False})

    @contextmanager
    def kept_alive(self, interval: float, sign: bytes) -> Iterator[None]:
        """Give a sign of life while nothing else is sent, so that proxies do not close an idle stream."""
        loop = asyncio.get_running_loop()
        self._beat(loop, interval, sign)
        try:
            yield
        finally:
            self._timer.cancel()
            for given in self._signs:
                given.cancel()

    def _beat(self, loop: asyncio.AbstractEventLoop, interval: float, sign: bytes) -> None:
        if self._idle and not self._signs and (wait := self.write(sign)) is not None:
            given = asyncio.ensure_future(wait())
            self._signs.add(given)
            given.add_done_callback(self._signs.discard)
        self._idle = True
        self._timer = loop.call_later(interval, self._beat, loop, interval, sign)
