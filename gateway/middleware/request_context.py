"""Who a request is: its id, which goes into every log line and back to the client, and how long its answer took to begin."""

import re
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
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
        if scope["type"] != "http":
            with self._traced(scope, lambda: 0):
                await self.app(scope, receive, send)
            return
        name = _id_of(scope)
        started = time.perf_counter()
        status = CLIENT_GONE  # gone before there was an answer

        async def with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status, scope[BEGUN] = message["status"], True
                took = (b"openai-processing-ms", str(int((time.perf_counter() - started) * 1000)).encode())
                own = (*((key, name) for key in ID_HEADERS), took, VERSION)
                message["headers"] = [*message.get("headers", ()), *scope.get(HEADERS, ()), *own]
            await send(message)

        token = request_id.set(name.decode())
        try:
            with self._traced(scope, lambda: status):
                await self.app(scope, receive, with_headers)
        finally:
            request_id.reset(token)
            self.metrics.http_requests.labels(self.route_of(scope["path"]), str(status)).inc()

    def _traced(self, scope: Scope, status: Callable[[], int]) -> AbstractContextManager[None]:
        if self.spans is None or scope["type"] == "lifespan":
            return nullcontext()
        return self.spans.request(scope, self.route_of(scope["path"]), status)


def _id_of(scope: Scope) -> bytes:
    """The client's own id where it sent a usable one."""
    headers = {key: value for key, value in scope["headers"] if key in CLIENT_IDS}
    for key in CLIENT_IDS:
        value = bytes(headers.get(key, b""))
        if VALID_ID.fullmatch(value):
            return value
    return b"req_" + uuid.uuid4().hex.encode()
