"""Who a request is: its id, which goes into every log line and back to the client, and how long its answer took to begin."""

import re
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gateway.telemetry.logging import request_id
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.record import CLIENT_GONE

from .asgi import App, Message, Receive, Scope, Send
from .caller import HEADERS

if TYPE_CHECKING:
    from gateway.telemetry.spans import Spans

BEGUN = "toolwire.begun"
"""Set in a request's scope once its answer has a status. Looked up there, so that nobody watches what is sent."""
VERSION = (b"openai-version", b"2020-10-01")
ID_HEADERS = (b"x-request-id", b"request-id")
"""Where the clients of OpenAI and of Anthropic look for it."""
CLIENT_IDS = (b"x-request-id", b"x-client-request-id")
VALID_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class RequestContext:
    """Outermost: sets the id, adds the headers every answer has, counts answers by route and status, has them traced.

    `route_of` names the route of a path with one of a few fixed words.
    """

    def __init__(self, app: App, *, metrics: Metrics, route_of: Callable[[str], str], spans: "Spans | None" = None) -> None:
        self.app = app
        self.metrics = metrics
        self.route_of = route_of
        self.spans = spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answered(scope, receive, send)
        elif self.spans is None or scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        else:
            with self.spans.request(scope, self.route_of(scope["path"]), lambda: 0):
                await self.app(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        name, route = _id_of(scope), self.route_of(scope["path"])
        started = time.perf_counter()
        status = CLIENT_GONE  # gone before there was an answer

        async def with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status, scope[BEGUN] = message["status"], True
                took = b"%d" % ((time.perf_counter() - started) * 1000)
                message["headers"] = [
                    *message.get("headers", ()),
                    *scope.get(HEADERS, ()),
                    *[(key, name) for key in ID_HEADERS],
                    (b"openai-processing-ms", took),
                    VERSION,
                ]
            await send(message)

        token = request_id.set(name.decode())
        try:
            if self.spans is None:
                await self.app(scope, receive, with_headers)
            else:
                with self.spans.request(scope, route, lambda: status):
                    await self.app(scope, receive, with_headers)
        finally:
            request_id.reset(token)
            self.metrics.http_requests.labels(route, str(status)).inc()


def _id_of(scope: Scope) -> bytes:
    """The client's own id where it sent a usable one."""
    headers = dict(scope["headers"])
    for key in CLIENT_IDS:
        if (value := headers.get(key)) and VALID_ID.fullmatch(value):
            return bytes(value)
    return b"req_%b" % secrets.token_hex(16).encode()
