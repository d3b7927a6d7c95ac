"""uvicorn's connections, but none waits for ever for a client that takes nothing of what it is sent.

What is sent is held back once 64 KiB wait for the client, so that a slow one costs little; but that would last for ever. Nothing
is done per write: the loop tells when a connection stalls and when it goes on.
"""

import asyncio
import logging
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from .direct import DirectConnection

log = logging.getLogger(__name__)


class _Impatient:
    """Mixed into a protocol of uvicorn: ends its connection once it has been stalled for `patience` seconds."""

    patience: float
    transport: asyncio.Transport
    _giving_up: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """Called when the client takes less than it is sent."""
        super().pause_writing()  # type: ignore[misc]
        self._giving_up = asyncio.get_running_loop().call_later(self.patience, self._give_up)

    def resume_writing(self) -> None:
        """Called when it has taken most of it."""
        self._go_on()
        super().resume_writing()  # type: ignore[misc]

    def connection_lost(self, exc: Exception | None) -> None:
        """Called when the connection is gone."""
        self._go_on()
        super().connection_lost(exc)  # type: ignore[misc]

    def _go_on(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _give_up(self) -> None:
        log.warning("a client took nothing for %g s: its connection is closed", self.patience)
        self.transport.abort()


def http_with(patience: float) -> type[asyncio.Protocol]:
    """Connections for HTTP that give up after so many seconds."""
    return _made(DirectConnection, patience)


def websockets_with(patience: float) -> type[asyncio.Protocol]:
    """The same for WebSockets."""
    return _made(WebSocketsSansIOProtocol, patience)


def _made(protocol: type[Any], patience: float) -> type[asyncio.Protocol]:
    return type(f"Impatient{protocol.__name__}", (_Impatient, protocol), {"patience": patience})
