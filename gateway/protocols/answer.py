"""Answers in one piece and errors, written straight to ASGI."""

import json
import logging
import math
from collections.abc import Iterable, Sequence

from gateway.errors import CodingUnknown, GatewayError, MethodNotAllowed, ServerStopping
from gateway.middleware.asgi import DirectWrite, Message, Send

Headers = list[tuple[bytes, bytes]]
MOST_WARNING_BYTES = 2000
log = logging.getLogger(__name__)


class Answer:
    """The way to one client; `started` once a status has been sent, after which no other can be, `ended` once all has. `direct`:
    writes a piece of the body past everything in between, where the server has such a way."""

    def __init__(self, send: Send, direct: DirectWrite | None = None) -> None:
        self._send = send
        self.direct = direct
        self.started = False
        self.ended = False

    async def __call__(self, message: Message) -> None:
        self.started = True
        self.ended = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)


async def send_json(send: Send, body: bytes, *, status: int = 200, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """One JSON answer."""
    start: Headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


async def send_error(send: Send, error: GatewayError) -> None:
    """The error in OpenAI's envelope."""
    await send_json(send, json.dumps(error.body()).encode(), status=error.status, headers=error_headers(error))


def error_headers(error: GatewayError) -> Headers:
    """What the official clients read to decide on a retry, the request's warnings, and what HTTP demands beside some statuses."""
    headers: Headers = [(b"x-should-retry", b"true" if error.retryable else b"false"), *warning_headers(error.warnings)]
    if error.retry_after is not None:
        headers.append((b"retry-after", str(max(1, math.ceil(error.retry_after))).encode()))
    if isinstance(error, MethodNotAllowed):
        headers.append((b"allow", error.allow.encode()))
    if isinstance(error, CodingUnknown):
        headers.append((b"accept-encoding", error.accept.encode()))
    # The rest of the body may still be coming; or nobody will be here for the next request.
    if error.status in (408, 413) or isinstance(error, ServerStopping):
        headers.append((b"connection", b"close"))
    return headers


def told(error: Exception) -> GatewayError:
    """What a client is told of a failure. One that nobody foresaw is logged, and kept to ourselves."""
    if isinstance(error, GatewayError):
        return error
    log.error("a request failed", exc_info=error)
    return GatewayError("The server had an error while processing your request. Sorry about that!")


def warning_headers(warnings: Sequence[str]) -> Headers:
    """`x-toolwire-warnings`, when there are any. They may quote the client, so only printable ASCII is let through."""
    if not warnings:
        return []
    text = "; ".join(dict.fromkeys(warnings))
    clean = "".join(char if " " <= char <= "~" else "?" for char in text[:MOST_WARNING_BYTES])
    return [(b"x-toolwire-warnings", clean.strip().encode("ascii"))]
