"""An engine with vLLM's surface that streams one prepared turn, chunk by chunk: `python -m benchmarks.traffic.engine PORT`.

Each chunk is one event, one HTTP chunk and one write, as vLLM's server sends them. `POST /pace` sets the pace of what comes
later, `GET /counts` tells what became of what was asked. Loopback only.
"""

import asyncio
import json
import random
import sys
from collections.abc import Sequence
from typing import cast

from benchmarks.traffic.run import run

FIRST = "Certainly"
"""The beginning of the turn; that it has arrived tells that the first token has."""
CALL = {"name": "write_file", "arguments": {"path": "notes/report.md", "mode": 420, "text": ""}}
FILLER = ("The", " quick", " brown", " fox", ",", ' \\"said', ' he\\"', "\\n", " jumps", " over", " 12", " lazy", " dogs", ".")


def pieces(number: int) -> list[str]:
    """A turn of that many pieces: a sentence, then a Hermes call whose text argument takes up most of them."""
    opening = [FIRST, ",", " I", " will", " write", " it", " down", ".", "\n", "<tool_call>", "\n"]
    head, tail = json.dumps(CALL).split('"text": "')
    framing = [head[at : at + 4] for at in range(0, len(head), 4)] + ['"text', '": "']
    ending = ['"}', tail[2:] or "}", "\n", "</tool_call>"]
    room = number - len(opening) - len(framing) - len(ending)
    return [*opening, *framing, *(FILLER[at % len(FILLER)] for at in range(room)), *ending]


def chunk(text: str, finish: str | None = None) -> bytes:
    """One event as vLLM writes it, in one HTTP chunk."""
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish, "stop_reason": None, "token_ids": None}
    event = {"id": "cmpl-0", "object": "text_completion", "created": 0, "model": "bench", "choices": [choice], "usage": None}
    return framed(f"data: {json.dumps(event)}\n\n".encode())


def framed(body: bytes) -> bytes:
    """One HTTP chunk."""
    return b"%x\r\n%b\r\n" % (len(body), body)


class Pace:
    """What every answer is like: seconds before the first chunk and between two, and the chunks."""

    def __init__(self) -> None:
        self.set(first=0.0, between=0.0, chunks=100)

    def set(self, *, first: float, between: float, chunks: int) -> None:
        self.first, self.between = first, between
        turn = pieces(chunks)
        self.text = "".join(turn)
        self.parts = [chunk(piece) for piece in turn[:-1]] + [chunk(turn[-1], "stop")]
        used = {"prompt_tokens": 100, "completion_tokens": chunks, "total_tokens": 100 + chunks}
        told = {"id": "cmpl-0", "object": "text_completion", "created": 0, "model": "bench", "choices": [], "usage": used}
        self.end = framed(f"data: {json.dumps(told)}\n\n".encode()) + framed(b"data: [DONE]\n\n") + b"0\r\n\r\n"


class Counts:
    """What was asked, and what became of it."""

    asked = chunks = aborted = running = 0


STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"


class Connection(asyncio.Protocol):
    """One connection, kept alive, one request after another."""

    def __init__(self, pace: Pace, counts: Counts) -> None:
        self._pace, self._counts = pace, counts
        self._buffer = b""
        self._timer: asyncio.TimerHandle | None = None
        self._parts: Sequence[bytes] = ()
        self._at = 0
        self._due = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._loop = asyncio.get_running_loop()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._counts.aborted += 1
            self._counts.running -= 1

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        method, path, _ = head.split(b" ", 2)
        self._answer(method.decode(), path.decode(), rest[:length])

    def _answer(self, method: str, path: str, body: bytes) -> None:
        if path == "/v1/completions":
            self._generate(json.loads(body))
        elif path == "/pace":
            self._pace.set(**json.loads(body))
            self._json({})
        elif path == "/counts":
            names = ("asked", "chunks", "aborted", "running")
            self._json({name: getattr(self._counts, name) for name in names})
        elif path == "/v1/models":
            self._json({"object": "list", "data": [{"id": "bench", "object": "model", "max_model_len": 32768}]})
        else:
            self._json({"version": "0.32.0"} if path == "/version" else {})

    def _json(self, value: object) -> None:
        body = json.dumps(value).encode()
        self._transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        )

    def _generate(self, asked: dict[str, object]) -> None:
        self._counts.asked += 1
        self._counts.running += 1
        self._streams = bool(asked.get("stream"))
        self._parts, self._at = self._pace.parts, 0
        whole = 0.0 if self._streams else self._pace.between * len(self._parts)
        self._due = self._loop.time() + self._pace.first + whole
        self._timer = self._loop.call_at(self._due, self._begin)

    def _begin(self) -> None:
        if not self._streams:
            self._counts.chunks += 1
            self._over()
            self._json({"object": "text_completion", "choices": [{"index": 0, "text": self._pace.text, "finish_reason": "stop"}]})
            return
        self._transport.write(STREAM)
        # The streams do not all send at the same moments.
        self._due += random.random() * self._pace.between
        self._next()

    def _next(self) -> None:
        while self._at < len(self._parts):
            self._transport.write(self._parts[self._at])
            self._at += 1
            self._counts.chunks += 1
            if self._pace.between and self._at < len(self._parts):
                self._due += self._pace.between
                self._timer = self._loop.call_at(self._due, self._next)
                return
        self._over()
        self._transport.write(self._pace.end)

    def _over(self) -> None:
        self._timer = None
        self._counts.running -= 1


async def main(port: int) -> None:
    """Serve until the process is ended."""
    pace, counts = Pace(), Counts()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(pace, counts), "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    run(main(int(sys.argv[1])))
