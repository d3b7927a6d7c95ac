"""A shorter way for the pieces of a streamed answer: straight to the client's socket, without a call of ASGI for each.

It writes what uvicorn itself would write between the head of an answer that has no length and its end.
"""

import asyncio
from collections.abc import Awaitable, Callable

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from gateway.middleware.asgi import DIRECT

from .heads import BoundedHeads


class DirectConnection(BoundedHeads):
    """A client's connection that leaves this way in the scope of each request."""

    def on_headers_complete(self) -> None:
        """Called when a request's body may begin."""
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not None and self.cycle is not before:
            self.cycle.scope[DIRECT] = _Way(self.cycle).write  # type: ignore[literal-required]


class _Way:
    """That of one answer. Where the client is gone there is nothing to do but wait for whoever watches the connection, and ends
    the work for it."""

    __slots__ = ("_cycle", "_flow", "_write")

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._flow = cycle.flow
        self._write = cycle.transport.write

    def write(self, piece: bytes) -> Callable[[], Awaitable[None]] | None:
        """See DirectWrite."""
        if self._cycle.disconnected:
            return _for_ever
        self._write(b"%x\r\n%b\r\n" % (len(piece), piece))
        return self._flow.drain if self._flow.write_paused else None


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()
