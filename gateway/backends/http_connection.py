"""One connection to an engine: a request goes out, and its answer is read as it comes.

A chunk costs one call of the parser and one of whoever takes it: no timer, no task and no future of its own. Silence is noticed
by a timer that looks at when something last came.
"""

import asyncio
from contextvars import copy_context
from functools import partial
from typing import cast

import httptools

from gateway.chat.flow import Take, Wait

CLOSED = "the connection was closed"
MOST_WAITING = 1024 * 1024
"""Bytes of an answer that may wait for their reader; then the engine is not read until they are gone."""


class Dropped(Exception):
    """The connection ended before the answer was whole. `unanswered`: not a byte of it had come."""

    def __init__(self, why: str, *, unanswered: bool) -> None:
        super().__init__(why)
        self.unanswered = unanswered


class NotHttp(Exception):
    """What came is no HTTP."""


class Silence(Exception):
    """Nothing came for too long."""


class HttpConnection(asyncio.Protocol):
    """Carries one request after another; `ask`, `head`, `read` and `run` belong to the current one."""

    def __init__(self, silence: float) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        """By lower-case names."""
        self.complete = False
        """The answer is whole."""
        self.reads = 0
        """How often something came of it."""
        self._silence = silence
        self._loop = asyncio.get_running_loop()
        self._waiting: list[bytes] = []
        self.on_body = self._waiting.append
        """Called by the parser with a piece of the body."""
        self._size = 0
        """Bytes that were read since somebody last took some."""
        self._paused = False
        self._keeps = False
        self._reader: asyncio.Future[None] | None = None
        self._take: Take[bytes] | None = None
        """Takes what comes of the body at once. None while nobody does, or somebody must be waited for."""
        self._owed: Wait | None = None
        """What must be waited for."""
        self._thrown: Exception | None = None
        """What the taker raised."""
        self._problem: Exception | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._last = 0.0

    # ---- for whoever asks
    @property
    def usable(self) -> bool:
        """Whether it can carry another request."""
        return self.complete and self._problem is None and self._keeps and not self._transport.is_closing()

    def ask(self, request: bytes) -> None:
        """Send a whole request."""
        self._parser = httptools.HttpResponseParser(self)
        self.status, self.headers, self.complete, self.reads = 0, {}, False, 0
        self._waiting.clear()
        self._size, self._keeps = 0, False
        self._owed = self._thrown = None
        self._last = self._loop.time()
        self._watch = self._loop.call_at(self._last + self._silence, self._look)
        self._transport.write(request)

    async def head(self) -> None:
        """Returns once `status` and `headers` are there."""
        while not self.status:
            await self._more()

    async def read(self) -> bytes:
        """What has come of the body, at least a byte; nothing once it is whole."""
        while not self._waiting:
            if self.complete:
                return b""
            await self._more()
        return self._came()

    async def run(self, take: Take[bytes]) -> None:
        """Give what comes of the body to `take`, in the context of whoever calls this, until it is whole."""
        taker: Take[bytes] = partial(copy_context().run, take)  # type: ignore[call-arg]
        try:
            while True:
                if self._waiting:
                    self._pass_on(taker)
                elif self.complete:
                    return
                else:
                    self._take = taker
                    await self._more()
                if self._thrown is not None:
                    raise self._thrown
                if self._owed is not None:
                    await self._owed()
                    self._owed = None
        finally:
            self._take = None

    def close(self) -> None:
        """Hang up: the engine stops, and whoever reads gets Dropped."""
        self._fail(Dropped(CLOSED, unanswered=False))
        self._transport.abort()

    async def _more(self) -> None:
        if self._problem is not None:
            raise self._problem
        self._reader = self._loop.create_future()
        try:
            await self._reader
        finally:
            self._reader = None

    # ---- asyncio's calls
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._last = self._loop.time()
        self.reads += 1
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(NotHttp(str(error)))
            self._transport.abort()
        take = self._take
        if take is not None and self._waiting:
            self._pass_on(take)
            if self._take is not None and not self.complete:
                return  # nobody has anything to do
        self._size += len(data)
        if self._size > MOST_WAITING and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        if self.status and not self.complete and self.headers.keys().isdisjoint(("content-length", "transfer-encoding")):
            self.on_message_complete()  # such a body ends with its connection

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(Dropped(str(exc or "") or CLOSED, unanswered=not self.reads))

    # ---- the parser's calls
    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= 200:
            self.status = status
        else:
            self.headers = {}  # word that the answer is still to come

    def on_message_complete(self) -> None:
        if self.status:
            self.complete = True
            self._keeps = self._parser.should_keep_alive()
            self._unwatch()

    # ---- ours
    def _came(self) -> bytes:
        """All that waits."""
        came = b"".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        if self._paused:
            self._paused, self._last = False, self._loop.time()
            self._transport.resume_reading()
        return came

    def _pass_on(self, take: Take[bytes]) -> None:
        waiting = self._waiting
        try:
            owed = take(waiting.pop() if len(waiting) == 1 and not self._size else self._came())
        except Exception as error:  # whoever waits in `run` raises it; the loop would only log it
            self._thrown, self._take = error, None
        else:
            if owed is not None:
                self._owed, self._take = owed, None

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _fail(self, problem: Exception) -> None:
        self._problem = self._problem or problem
        self._unwatch()
        self._wake()

    def _look(self) -> None:
        """Has something come since the last look?"""
        now = self._loop.time()
        due = (now if self._paused else self._last) + self._silence
        if due > now:
            self._watch = self._loop.call_at(due, self._look)
        else:
            self._fail(Silence())
            self._transport.abort()

    def _unwatch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
