"""Errors in Anthropic's shape, with its types and statuses."""

import json
from typing import Any

from gateway.errors import BackendUnavailable, ContextTooLong, GatewayError
from gateway.middleware.asgi import Scope, Send
from gateway.protocols.answer import error_headers, send_json
from gateway.telemetry.logging import request_id

TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
PATHS = ("/v1/messages", "/messages")


def speaks_anthropic(scope: Scope) -> bool:
    """Whether this request comes from a client of Anthropic's API."""
    path = scope["path"]
    return any(path == own or path.startswith(f"{own}/") for own in PATHS) or any(
        name == b"anthropic-version" for name, _ in scope["headers"]
    )


async def send_error(send: Send, error: GatewayError) -> None:
    """The error as the answer to a request."""
    await send_json(send, json.dumps(error_body(error)).encode(), status=status_of(error), headers=error_headers(error))


def error_body(error: GatewayError) -> dict[str, Any]:
    """Anthropic's error object."""
    status = status_of(error)
    kind = TYPES.get(status) or ("invalid_request_error" if status < 500 else "api_error")
    told = {"type": kind, "message": _message(error)}
    return {"type": "error", "error": told, "request_id": request_id.get() or None}


def status_of(error: GatewayError) -> int:
    """The HTTP status; an engine that cannot be reached now is what Anthropic calls overloaded."""
    return 529 if isinstance(error, BackendUnavailable) else error.status


def _message(error: GatewayError) -> str:
    """Claude Code shortens its conversation when a message begins in this way."""
    if not isinstance(error, ContextTooLong):
        return error.message
    if error.tokens is None:
        return f"prompt is too long: {error.message}"
    return f"prompt is too long: {error.tokens[0]} tokens > {error.tokens[1]} maximum"
