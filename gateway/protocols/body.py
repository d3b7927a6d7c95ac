"""A request's body: read up to a limit, then JSON. Whatever is wrong with it is told before anything else looks at it."""

import re
from typing import Any

from pydantic_core import from_json

from gateway.errors import BodyTooLarge, BodyUnreadable
from gateway.middleware.asgi import Receive, Scope
from gateway.settings import Limits

HINT = "We could not parse the JSON body of your request."
DRAIN = 8
"""A body that is too long is read on to this multiple of the limit: most clients hear an answer only after they have sent all."""


class ClientGone(Exception):
    """The client closed the connection; there is nobody to answer."""


async def read_json(scope: Scope, receive: Receive, limits: Limits) -> dict[str, Any]:
    """The body as a JSON object; BodyTooLarge, BodyUnreadable or ClientGone."""
    return parse(await read(scope, receive, limits.body_bytes), limits.json_depth)


async def read(scope: Scope, receive: Receive, limit: int) -> bytes:
    """The whole body; BodyTooLarge when it is longer than `limit` bytes."""
    declared = _declared_length(scope)
    if declared > limit * DRAIN:
        raise _too_large(limit)
    chunks: list[bytes] = []
    length = 0
    more = True
    while more and length <= limit * DRAIN:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        more = message.get("more_body", False)
        length += len(chunk)
        if length <= limit:
            chunks.append(chunk)
    if length > limit:
        raise _too_large(limit)
    return b"".join(chunks)


def parse(body: bytes, max_depth: int) -> dict[str, Any]:
    """The JSON object in these bytes; BodyUnreadable says why it is none."""
    try:
        value = from_json(body.removeprefix(b"\xef\xbb\xbf"), allow_inf_nan=False)
    except ValueError as error:
        raise BodyUnreadable(f"{HINT} {_reason(body, str(error), max_depth)}") from None
    if not isinstance(value, dict):
        raise BodyUnreadable(f"{HINT} A JSON object is expected at the top level.")
    if _deeper_than(value, max_depth):
        raise BodyUnreadable(f"{HINT} {_too_deep(max_depth)}")
    return value


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and re.fullmatch(rb"[0-9]{1,18}", value):
            return int(value)
    return 0


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


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for node in level for child in _children(node) if type(child) in (dict, list)]
        if not level:
            return False
    return True


def _children(node: Any) -> Any:
    return node.values() if type(node) is dict else node
