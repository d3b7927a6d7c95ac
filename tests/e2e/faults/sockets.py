"""A WebSocket client that takes one response."""

import json
import threading
from contextlib import ExitStack
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

PATIENCE = 60.0
OPTIONS: dict[str, Any] = {"open_timeout": PATIENCE, "compression": None, "max_queue": 1, "max_size": None, "ping_interval": None}


class Conversation:
    """One connection with one request on it. `types` are those of the events so far."""

    def __init__(self, url: str, *, reads: bool = True) -> None:
        self.types: list[str] = []
        self.last: dict[str, Any] = {}
        self.close_code: int | None = None
        self._opened = ExitStack()
        self._socket = self._opened.enter_context(connect(f"{url.replace('http', 'ws', 1)}/v1/responses", **OPTIONS))
        self.create()
        self._thread = threading.Thread(target=self._read, daemon=True)
        if reads:
            self._thread.start()

    def create(self) -> None:
        """Ask."""
        self._socket.send(json.dumps({"type": "response.create", "model": "m", "input": "hi"}))

    def hang_up(self) -> None:
        """Go away without a word."""
        self._socket.socket.close()

    def end(self) -> str:
        """The type of the last event, once the connection is closed."""
        self._thread.join(PATIENCE)
        return self.types[-1] if self.types else ""

    def _read(self) -> None:
        try:
            for message in self._socket:
                self.last = json.loads(message)
                self.types.append(self.last["type"])
        except (ConnectionClosed, OSError):
            pass
        self.close_code = self._socket.close_code
