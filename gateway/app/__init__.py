"""Builds and wires the application; the only place that knows every part."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from fastapi import FastAPI
from starlette.routing import Route, WebSocketRoute

from gateway.middleware.asgi import App
from gateway.middleware.auth import Auth
from gateway.middleware.request_context import RequestContext
from gateway.protocols import admin
from gateway.protocols.chat_completions.routes import ChatCompletions
from gateway.protocols.completions.routes import PATH as COMPLETIONS
from gateway.protocols.completions.routes import Completions
from gateway.protocols.embeddings import PATH as EMBEDDINGS
from gateway.protocols.embeddings import Embeddings
from gateway.protocols.messages.routes import CountTokens, Messages
from gateway.protocols.responses.endpoints import Responses
from gateway.settings import Settings

from .application import Application, Direct
from .describe import describe_generation
from .failures import ErrorEnvelope, translate_framework_errors
from .house import House
from .version import its_version

__all__ = ["Application", "House", "create_app", "its_version"]

SILENT = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""The framework's own telemetry is off: it would tell each request twice, and quote what was said in exceptions."""
CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"
RESPONSES = "/v1/responses"
CONVERSATIONS = "/v1/conversations"
GENERATION = frozenset(
    {CHAT, MESSAGES, COUNT_TOKENS, COMPLETIONS, EMBEDDINGS, RESPONSES, f"{RESPONSES}/input_tokens", f"{RESPONSES}/compact"}
)
"""Answered with and without /v1, which users forget."""
ADMIN = frozenset({"/", "/v1/models", "/health", "/v1/health", "/ready", "/metrics", "/version", "/docs", "/openapi.json"})


def create_app(settings: Settings, house: House | None = None) -> Application:
    """The whole gateway, wired. A `house` that is given is already open, and closed by who opened it."""
    home = house or House(settings, created=int(time.time()))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with home if house is None else nullcontext():
            try:
                yield
            finally:
                await responses.close()

    plain: Any = {"redirect_slashes": False, "redoc_url": None, "telemetry": SILENT}
    control = FastAPI(title="Toolwire", version=its_version(), lifespan=lifespan, **plain)
    control.include_router(admin.router(home.catalog, home.metrics, its_version(), home.pipeline.running))
    parts = (home.pipeline, settings.limits)
    responses = Responses(*parts, home.store)
    endpoints: dict[str, App] = {
        CHAT: ChatCompletions(*parts),
        MESSAGES: Messages(*parts),
        COUNT_TOKENS: CountTokens(*parts),
        COMPLETIONS: Completions(*parts),
        EMBEDDINGS: Embeddings(*parts),
        **responses.endpoints,
    }
    spelled = {spelling: endpoint for path, endpoint in endpoints.items() for spelling in (path, path.removeprefix("/v1"))}
    exact = {path: endpoint for path, endpoint in spelled.items() if "{" not in path}
    for pattern in (path for path in spelled if path not in exact):
        control.router.routes.append(Route(pattern, spelled[pattern], include_in_schema=False))
    for spelling in (RESPONSES, RESPONSES.removeprefix("/v1")):
        control.router.routes.append(WebSocketRoute(spelling, responses.socket))
    describe_generation(control)
    translate_framework_errors(control)
    control.add_middleware(ErrorEnvelope)
    return Application(_surrounded(Direct(exact, control), settings, home), home)


def _surrounded(inner: App, settings: Settings, home: House) -> App:
    """What every request passes before anything is done for it."""
    if home.keyring is not None:
        inner = Auth(inner, keys=home.keyring, open_metrics=settings.auth.metrics == "open")
    return RequestContext(ErrorEnvelope(inner), metrics=home.metrics, route_of=_route_of, spans=home.spans)


def _route_of(path: str) -> str:
    if f"/v1{path}" in GENERATION:
        return f"/v1{path}"
    if path in ADMIN or path in GENERATION:
        return path
    for listed in ("/v1/models", RESPONSES, CONVERSATIONS):
        if path.startswith(f"{listed}/"):
            return f"{listed}/{{id}}"
    return "other"
