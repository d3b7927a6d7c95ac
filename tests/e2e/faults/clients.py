"""Clients that keep an eye on what they get: whole answers, streams, and those that hang up."""

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.support.server import CLIENT, PATIENCE

HI = [{"role": "user", "content": "hi"}]
CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
COMPLETIONS = "/v1/completions"
PATHS = (CHAT, MESSAGES, RESPONSES)


def body_for(path: str, *, stream: bool = True, text: str = "hi", model: str = "m") -> dict[str, Any]:
    """A request of each protocol."""
    if path == COMPLETIONS:
        return {"model": model, "prompt": text, "stream": stream}
    if path == RESPONSES:
        return {"model": model, "input": text, "stream": stream}
    limits = {"max_tokens": 500} if path == MESSAGES else {}
    return {"model": model, "messages": [{"role": "user", "content": text}], "stream": stream, **limits}


@dataclass
class Seen:
    """What one client saw. `outcome` in one of a few words: whole, told (an error event), refused (an error status), cut."""

    outcome: str = ""
    status: int = 0
    text: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


def ask(url: str, path: str = CHAT, *, stream: bool = True, text: str = "hi", key: str = "") -> Seen:
    """One request to its end."""
    seen, began = Seen(), time.monotonic()
    body, headers = body_for(path, stream=stream, text=text), {"x-api-key": key} if key else {}
    try:
        with CLIENT.stream("POST", url + path, json=body, headers=headers) as answer:
            seen.status, seen.headers = answer.status_code, dict(answer.headers)
            for block in answer.iter_text():
                seen.text += block
        seen.outcome = _outcome(seen, path, stream=stream)
    except httpx.HTTPError as error:
        seen.outcome, seen.text = "cut", f"{seen.text} {error!r}"
    seen.seconds = time.monotonic() - began
    return seen


def _outcome(seen: Seen, path: str, *, stream: bool) -> str:
    if seen.status != 200:
        return "refused"
    if not stream:
        return "whole"
    failed = {CHAT: '"error":', MESSAGES: "event: error", RESPONSES: "event: response.failed"}[path]
    ended = {CHAT: "data: [DONE]", MESSAGES: "event: message_stop", RESPONSES: "event: response.completed"}[path]
    if failed in seen.text or failed.replace(":", ": ") in seen.text:
        return "told"
    return "whole" if ended in seen.text else "cut"


def begun(works: Sequence[Callable[[], Seen]]) -> list[Future[Seen]]:
    """All at once, each in a thread of its own; what they will have seen."""
    pool = ThreadPoolExecutor(len(works))
    futures = [pool.submit(work) for work in works]
    pool.shutdown(wait=False)
    return futures


def ended(futures: Sequence[Future[Seen]]) -> list[Seen]:
    """What they have seen."""
    return [future.result(PATIENCE) for future in futures]


def together(works: Sequence[Callable[[], Seen]]) -> list[Seen]:
    """All at once, to the end."""
    return ended(begun(works))


def outcomes(seen: Sequence[Seen]) -> dict[str, int]:
    """How many of each."""
    return dict(Counter(one.outcome for one in seen))


class Background:
    """Clients that go on asking, with a breath between two questions, until they are stopped."""

    def __init__(self, work: Callable[[], Seen], *, clients: int, breath: float = 0.1) -> None:
        self.seen: list[Seen] = []
        self._breath = breath
        self._stop = threading.Event()
        self._work = work
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(clients)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> list[Seen]:
        """What all of them saw."""
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        return self.seen

    def _run(self) -> None:
        while not self._stop.wait(self._breath):
            self.seen.append(self._work())


class Caller:
    """A connection with a request on it, to be hung up, or never read."""

    def __init__(self, url: str, path: str = CHAT, *, stream: bool = True, narrow: bool = False, model: str = "m") -> None:
        where = urlsplit(url)
        self._socket = socket.socket()
        if narrow:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.settimeout(PATIENCE)
        self._socket.connect((where.hostname, where.port))
        body = json.dumps(body_for(path, stream=stream, model=model)).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._socket.sendall(head.encode() + body)

    def read(self) -> bytes:
        """Something of the answer."""
        return self._socket.recv(4096)

    def hang_up(self) -> None:
        """Go away."""
        self._socket.close()

    def __enter__(self) -> "Caller":
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
