"""Every failure outside of the generation routes as an answer in the client's own protocol, never in the framework's words."""

from typing import NoReturn

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException

from gateway.errors import GatewayError, MethodNotAllowed, RequestError
from gateway.middleware.asgi import App, Receive, Scope, Send
from gateway.middleware.request_context import BEGUN
from gateway.protocols.answer import send_error, told
from gateway.protocols.messages import refusal as anthropic


class ErrorEnvelope:
    """Answers for what the application raises before it has begun to answer. Stands inside of RequestContext."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            await self.app(scope, receive, send)
        except Exception as failure:
            if scope.get(BEGUN):
                raise
            refuse = anthropic.send_error if anthropic.speaks_anthropic(scope) else send_error
            await refuse(send, told(failure))


def translate_framework_errors(app: FastAPI) -> None:
    """Turn the framework's own refusals into ours; ErrorEnvelope answers them."""

    async def http(request: Request, error: Exception) -> NoReturn:
        raise _of_http(request, error) from None

    app.add_exception_handler(HTTPException, http)


def _of_http(request: Request, error: Exception) -> GatewayError:
    status, headers = (error.status_code, error.headers or {}) if isinstance(error, HTTPException) else (500, {})
    what = f"{request.method} {request.url.path}"
    if status == 405:
        return MethodNotAllowed(f"Not allowed to {request.method} on {request.url.path}.", allow=headers.get("Allow", "GET"))
    if status == 404:
        return RequestError(
            f"Unknown request URL: {what}. Please check the URL for typos, or see /docs for what this server answers.",
            code="unknown_url",
            status=404,
        )
    return RequestError(f"{what} was refused.", status=status)
