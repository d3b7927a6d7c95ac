"""Responses over a WebSocket: `response.create` comes in, the events of the stream go out, one message each.

Requests with the same `stream_id` are answered one after the other, those with different ones side by side. The connection
remembers its latest responses, so that `previous_response_id` works also for those that are not stored.
"""

import asyncio
import json
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gateway.chat.events import Usage
from gateway.errors import BodyTooLarge, GatewayError, RequestError
from gateway.middleware.asgi import Message, Receive, Scope, Send
from gateway.protocols.answer import told
from gateway.protocols.body import counted, parse
from gateway.protocols.sse import write_out
from gateway.protocols.validation import missing, not_among
from gateway.store import MemoryStore

from .encode import StreamEncoder
from .owner import owner_of
from .routes import Create, Services
from .shape import in_own_words
from .taking import Incoming, Taking, keep, opened

Json = dict[str, Any]
MOST_SECONDS = 3600.0
MOST_WAITING = 64
"""Requests of one connection that are not answered yet."""
REMEMBERED = {"ttl": MOST_SECONDS, "entries": 64, "size": 32 * 1024 * 1024}
STREAM_ID = re.compile(r"[A-Za-z0-9_.-]{1,256}")
STEER = "response.steer"
NO_STEERING = "A response cannot be steered on this server. Send the input with the next 'response.create'."
OWN_FIELDS = ("type", "stream_id", "generate", "stream")


class TooMany(RequestError):
    """The connection has reached one of its limits."""


class Socket:
    """The ASGI callable of the WebSocket route."""

    def __init__(self, services: Services, *, most_seconds: float = MOST_SECONDS) -> None:
        self._services = services
        self._most_seconds = most_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection. When the client leaves, its generations stop."""
        if (await receive())["type"] != "websocket.connect":
            return
        await send({"type": "websocket.accept"})
        nearby = MemoryStore(ttl=REMEMBERED["ttl"], entries=int(REMEMBERED["entries"]), size=int(REMEMBERED["size"]))
        services = replace(self._services, records=replace(self._services.records, nearby=nearby))
        connection = _Connection(services, owner_of(scope), send, time.monotonic() + self._most_seconds)
        try:
            await connection.serve(receive)
        finally:
            await connection.close()


@dataclass(slots=True)
class _Connection:
    services: Services
    owner: str
    send: Send
    deadline: float
    tails: dict[str | None, asyncio.Task[None]] = field(default_factory=dict)
    """The last request of each stream."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def serve(self, receive: Receive) -> None:
        """Take requests until the client leaves, or has been here for too long."""
        while (message := await receive())["type"] == "websocket.receive":
            stream_id = None
            try:
                body = self._body(message)
                if body.get("type") == STEER:
                    await self._refuse_steering(body)
                    continue
                stream_id = _stream_id(body)
                self._check_limits()
            except GatewayError as error:
                await self._refuse(error, stream_id)
                if error.code == "websocket_connection_limit_reached":
                    await self.send({"type": "websocket.close", "code": 1000})
                    return
            else:
                self._begin(body, stream_id)

    async def close(self) -> None:
        """Stop everything that goes on."""
        for task in self.tasks:
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks)

    def _body(self, message: Message) -> Json:
        raw = message.get("bytes") or (message.get("text") or "").encode("utf-8", "replace")
        limits = self.services.limits
        if len(raw) > limits.body_bytes:
            raise BodyTooLarge(
                f"Message too large. The limit is {limits.body_bytes} bytes; send less, or raise limits.body_bytes."
            )
        return counted(parse(raw, limits.json_depth), limits)

    def _check_limits(self) -> None:
        if time.monotonic() > self.deadline:
            raise TooMany(
                "This connection has reached its time limit. Open a new one.", code="websocket_connection_limit_reached"
            )
        if len(self.tasks) >= MOST_WAITING:
            message = "Too many requests of this connection wait for their answers."
            raise TooMany(message, code="websocket_stream_limit_reached")

    async def _refuse_steering(self, body: Json) -> None:
        """Give the input back, so that the client sends it with its next request."""
        error = {"type": "invalid_request_error", "code": "steering_not_supported", "message": NO_STEERING}
        steer = {"previous_response_id": body.get("previous_response_id") or "", "input": body.get("input") or ""}
        event = {"type": f"{STEER}.failed", "sequence_number": 0, "error": error, "steer": steer}
        async with self.sending:
            await self.send({"type": "websocket.send", "text": json.dumps(event)})

    def _begin(self, body: Json, stream_id: str | None) -> None:
        task = asyncio.create_task(self._after(self.tails.get(stream_id), body, stream_id))
        self.tails[stream_id] = task
        self.tasks.add(task)
        task.add_done_callback(lambda done: self._ended(done, stream_id))

    def _ended(self, task: asyncio.Task[None], stream_id: str | None) -> None:
        self.tasks.discard(task)
        if self.tails.get(stream_id) is task:
            del self.tails[stream_id]

    async def _after(self, previous: asyncio.Task[None] | None, body: Json, stream_id: str | None) -> None:
        if previous is not None:
            await asyncio.wait((previous,))
        with suppress(OSError):  # the client has left
            try:
                await self._answer(body, stream_id)
            except OSError:
                raise
            except Exception as error:
                await self._refuse(told(error), stream_id)

    async def _answer(self, body: Json, stream_id: str | None) -> None:
        asked = replace(await Create(self.services).incoming(_request(body), self.owner), headless=True)
        encoder = StreamEncoder(asked.shape)
        if body.get("generate") is False:
            await self._warm_up(asked, encoder, stream_id)
            return
        async with opened(self.services.pipeline, asked, encoder) as turns:
            await self._write(encoder.opening(), stream_id)
            try:
                taking = Taking(turns, encoder, self.services.records, asked)
                await write_out(taking, encoder, lambda frames: partial(self._write, frames, stream_id))
                last = encoder.last()
            except Exception as error:
                last = encoder.failure(told(error))
            await self._write(last, stream_id)

    async def _warm_up(self, asked: Incoming, encoder: StreamEncoder, stream_id: str | None) -> None:
        """A response without a turn, to which later ones may refer."""
        self.services.pipeline.catalog.find(asked.chat.model)
        asked.warn(asked.chat.warnings)
        await self._write(encoder.opening(), stream_id)
        encoder.conclude(Usage(0, 0))
        await keep(self.services.records, asked, encoder)
        await self._write(encoder.last(), stream_id)

    async def _write(self, frames: bytes, stream_id: str | None) -> None:
        """Each frame's data as a message of its own."""
        mark = "" if stream_id is None else f',"stream_id":"{stream_id}"'
        for frame in frames.decode("ascii").split("\n\n")[:-1]:
            data = frame.partition("\ndata: ")[2]
            async with self.sending:
                await self.send({"type": "websocket.send", "text": f"{data[:-1]}{mark}}}"})

    async def _refuse(self, error: GatewayError, stream_id: str | None) -> None:
        event = {"type": "error", "status": error.status, **in_own_words(error).body()}
        async with self.sending:
            text = json.dumps(event if stream_id is None else {**event, "stream_id": stream_id})
            await self.send({"type": "websocket.send", "text": text})


def _stream_id(body: Json) -> str | None:
    """Which of the connection's streams the message belongs to; RequestError when it is no request at all."""
    kind = body.get("type")
    if kind is None:
        raise missing("type")
    if kind != "response.create":
        raise not_among("type", str(kind), ("response.create",))
    stream_id = body.get("stream_id")
    if stream_id is not None and not (isinstance(stream_id, str) and STREAM_ID.fullmatch(stream_id)):
        expected = f"Expected a string that matches the pattern '{STREAM_ID.pattern}'."
        raise RequestError(f"Invalid 'stream_id': string does not match pattern. {expected}", param="stream_id")
    return stream_id


def _request(body: Json) -> Json:
    """The body as it would be posted."""
    if body.get("background"):
        message = "Unsupported parameter: 'background' is not supported over a WebSocket."
        raise RequestError(message, param="background", code="unsupported_parameter")
    return {name: value for name, value in body.items() if name not in OWN_FIELDS}
