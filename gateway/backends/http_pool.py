"""The connections to one engine: opened when they are needed, kept for a moment, used again."""

import asyncio
import base64
import ssl
import time
from collections import deque
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from .http_connection import Dropped, HttpConnection

KEPT = 4.0
"""Seconds. Engines on uvicorn drop an idle connection after 5; we let go first."""


class Unreachable(Exception):
    """No connection could be opened."""


class TooLate(Exception):
    """None was taken in time."""


class HttpPool:
    """Posts to one address. `connect` and `silence` are seconds: to open a connection, and between two reads of an answer."""

    def __init__(self, url: str, headers: Mapping[str, str], *, connect: float, silence: float) -> None:
        parts = urlsplit(url)
        self._host, self._prefix = parts.hostname or "", parts.path
        self._secure = parts.scheme == "https"
        self._port = parts.port or (443 if self._secure else 80)
        login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        basic = {"authorization": f"Basic {base64.b64encode(login.encode()).decode()}"} if parts.username else {}
        self._fixed = _lines({"host": parts.netloc.rpartition("@")[2], **basic, **headers})
        self._connect, self._silence = connect, silence
        self._idle: deque[tuple[float, HttpConnection]] = deque()
        self._sweep: asyncio.TimerHandle | None = None
        self._tls: ssl.SSLContext | None = None

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> HttpConnection:
        """The connection on which the answer comes, once its head is there. To be given back."""
        length = b"content-length: %d\r\n\r\n" % len(body)
        request = b"POST %b HTTP/1.1\r\n%b%b%b%b" % ((self._prefix + path).encode(), self._fixed, _lines(headers), length, body)
        while (kept := self._kept()) is not None:
            try:
                return await self._answered(kept, request)
            except Dropped as error:
                # It was let go just as we used it; nothing has been answered, so asking again is safe.
                if not error.unanswered:
                    raise
        return await self._answered(await self._opened(), request)

    def give_back(self, connection: HttpConnection) -> None:
        """The answer is over, or nobody wants it any more: then the connection is closed, which makes the engine stop."""
        if not connection.usable:
            connection.close()
            return
        self._idle.append((time.monotonic(), connection))
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(KEPT, self._let_go)

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            self._idle.pop()[1].close()
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None

    async def _answered(self, connection: HttpConnection, request: bytes) -> HttpConnection:
        connection.ask(request)
        try:
            await connection.head()
        except BaseException:  # also when nobody waits any more: the engine must not go on
            connection.close()
            raise
        return connection

    def _kept(self) -> HttpConnection | None:
        """The connection that was used last, so that those which are not needed any more grow old."""
        while self._idle:
            since, connection = self._idle.pop()
            if connection.usable and time.monotonic() - since < KEPT:
                return connection
            connection.close()
        return None

    def _let_go(self) -> None:
        """Close those that nobody has used for a while."""
        oldest = time.monotonic() - KEPT
        while self._idle and self._idle[0][0] <= oldest:
            self._idle.popleft()[1].close()
        self._sweep = asyncio.get_running_loop().call_later(KEPT / 4, self._let_go) if self._idle else None

    async def _opened(self) -> HttpConnection:
        if self._secure and self._tls is None:
            self._tls = await asyncio.to_thread(ssl.create_default_context)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect):
                _, connection = await loop.create_connection(
                    lambda: HttpConnection(self._silence), self._host, self._port, ssl=self._tls
                )
        except TimeoutError:
            raise TooLate from None
        except OSError as error:
            raise Unreachable(error.strerror or str(error)) from error
        return connection


def _lines(headers: Mapping[str, str]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode("latin-1")
