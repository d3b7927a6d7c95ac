"""What a client may send that is no body: little, and not for long.

The HTTP parser keeps the lines before a body, and those behind it, until they are whole, however many come and however slowly. So
a connection that has sent more than FRAMING_BYTES of them, or has not got to the end of its headers after a while, is closed.
"""

import asyncio
import logging

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.middleware.asgi import ARRIVED

FRAMING_BYTES = 64 * 1024
"""Most bytes of a request line and its headers, or of trailers and chunk sizes without a body; give or take one read."""
OF_A_CHUNK = 32
"""Bytes of framing that a piece of the body may bring along."""
HEAD_SECONDS = 30.0
"""Longest time from a connection's opening, or the first byte of a later request, to the end of the headers."""
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
log = logging.getLogger(__name__)


class BoundedHeads(HttpToolsProtocol):
    """uvicorn's connection, with bounds on everything that is not a request's body."""

    head_seconds = HEAD_SECONDS
    _framing = 0
    """Bytes that came and were no body, since the last headers ended."""
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called when a client connects."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called when the connection is gone."""
        self._head_is_there()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Called with the first byte of a request."""
        super().on_message_begin()
        if self._late is None:
            self._expect_head()

    def on_headers_complete(self) -> None:
        """Called when the body may begin."""
        self._head_is_there()
        self._framing = 0
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called with each header, and with each trailer behind a body, of which nothing is made."""
        if self._late is not None:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Called with each piece of a body."""
        self._framing = max(0, self._framing - len(body) - OF_A_CHUNK)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Called with the end of a request's body."""
        super().on_message_complete()
        if self.cycle is not None:
            self.cycle.scope[ARRIVED] = True  # type: ignore[literal-required]

    def data_received(self, data: bytes) -> None:
        """Called with what was read."""
        self._framing += len(data)
        super().data_received(data)
        if self._framing > FRAMING_BYTES and not self.transport.is_closing():
            log.warning("a client sent more than %d bytes that are no body: its connection is closed", FRAMING_BYTES)
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def _expect_head(self) -> None:
        self._late = self.loop.call_later(self.head_seconds, self.transport.close)

    def _head_is_there(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
