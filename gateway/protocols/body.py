"""A request's body: read up to a limit, then JSON. Whatever is wrong with it is told before anything else looks at it."""

import asyncio
import re
from typing import Any

from pydantic_core import from_json

from gateway.errors import BodyTooLarge, BodyUnreadable, RequestError
from gateway.middleware.asgi import ARRIVED, Message, Receive, Scope
from gateway.settings import Limits

from .inflate import inflater_of
from .nesting import deeper_than
from .validation import check_length

HINT = "We could not parse the JSON body of your request."
DRAIN = 8
"""A body that is too long is read on to this multiple of the limit: most clients hear an answer only after they have sent all."""
PATIENCE = 60.0
"""Seconds a client may let pass between two pieces of its body."""
HALF_PAIR = re.compile(
    rb"(?<!\\)((?:\\\\)*+)(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
"""An escaped surrogate without its other half: clients that cut a text in the middle of an emoji write it."""
MOST_HALVES = 1000
"""More are not mended: it takes time while everybody waits."""


class ClientGone(Exception):
    """The client closed the connection; there is nobody to answer."""


async def read_json(scope: Scope, receive: Receive, limits: Limits) -> dict[str, Any]:
    """The body as a JSON object; BodyTooLarge, BodyUnreadable or ClientGone."""
    return counted(parse(await read(scope, receive, limits.body_bytes), limits.json_depth), limits)


async def read(scope: Scope, receive: Receive, limit: int, *, patience: float = PATIENCE) -> bytes:
    """The whole body, inflated; BodyTooLarge when it is longer than `limit` bytes."""
    inflater = inflater_of(scope)
    declared = _declared_length(scope)
    if declared > limit * DRAIN:
        raise _too_large(limit)
    chunks: list[bytes] = []
    sent = length = 0
    more = True
    while more and sent <= limit * DRAIN:
        message = await (receive() if ARRIVED in scope else _next(receive, patience))
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        more = message.get("more_body", False)
        sent += len(chunk)
        if length <= limit:
            chunks.append(chunk if inflater is None else inflater.feed(chunk, limit + 1 - length))
            length += len(chunks[-1])
    if length > limit:
        raise _too_large(limit)
    if inflater is not None:
        inflater.finish()
    return b"".join(chunks)


async def _next(receive: Receive, patience: float) -> Message:
    try:
        async with asyncio.timeout(patience):
            return await receive()
    except TimeoutError:
        message = f"The request's body stopped coming: nothing for {patience:g} seconds. Send it again."
        raise RequestError(message, status=408, code="request_timeout") from None


def parse(body: bytes, max_depth: int) -> dict[str, Any]:
    """The JSON object in these bytes; BodyUnreadable says why it is none."""
    try:
        value = _value(body.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:
        raise BodyUnreadable(f"{HINT} {_reason(body, str(error), max_depth)}") from None
    if not isinstance(value, dict):
        raise BodyUnreadable(f"{HINT} A JSON object is expected at the top level.")
    if deeper_than(max_depth, value, body):
        raise BodyUnreadable(f"{HINT} {_too_deep(max_depth)}")
    return value


def counted(body: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """The body; RequestError where it has more messages than are looked at."""
    for field in ("messages", "input"):
        items = body.get(field)
        if isinstance(items, list):
            check_length(field, len(items), limits.messages)
    return body


def _value(body: bytes) -> Any:
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        if "hex escape" not in str(error):
            raise
        return from_json(HALF_PAIR.sub(rb"\1\\ufffd", body, count=MOST_HALVES), allow_inf_nan=False)


def _declared_length(scope: Scope) -> int:
    value = dict(scope["headers"]).get(b"content-length", b"")
    return int(value) if len(value) < 19 and value.isdigit() else 0


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"Request body too large. The limit is {limit} bytes; send less, or raise limits.body_bytes.")


def _too_deep(max_depth: int) -> str:
    return f"It is nested too deeply (at most {max_depth} levels)."


def _reason(body: bytes, error: str, max_depth: int) -> str:
    if not body.strip():
        return "The body is empty."
    if "recursion limit" in error:
        return _too_deep(max_depth)
    if b"\0" in body:
        return "It contains NUL bytes; JSON writes that character as \\u0000."
    try:
        body.decode()
    except UnicodeDecodeError as fault:
        return f"It is not valid UTF-8 (byte {fault.start})."
    return f"(HINT: {error}.)"
