"""Builds and wires the application; the only place that knows every part."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from importlib.metadata import PackageNotFoundError, version

from fastapi import FastAPI
from starlette.routing import Route

from gateway.middleware.request_context import RequestContext
from gateway.protocols import admin
from gateway.protocols.chat_completions.routes import ChatCompletions
from gateway.settings import Settings

from .describe import describe_generation
from .failures import ErrorEnvelope, translate_framework_errors
from .house import House

__all__ = ["House", "create_app"]

GENERATION = ("/v1/chat/completions", "/chat/completions")
ADMIN = frozenset({"/v1/models", "/health", "/v1/health", "/ready", "/metrics", "/version", "/docs", "/openapi.json"})


def create_app(settings: Settings, house: House | None = None) -> FastAPI:
    """The whole gateway as an ASGI application. A `house` that is given is already open, and closed by who opened it."""
    home = house or House(settings, created=int(time.time()))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with home if house is None else nullcontext():
            yield

    app = FastAPI(title="Toolwire", version=its_version(), lifespan=lifespan, redirect_slashes=False, redoc_url=None)
    app.include_router(admin.router(home.catalog, home.metrics, its_version()))
    chat = ChatCompletions(home.pipeline, settings.limits)
    for path in GENERATION:
        app.router.routes.append(Route(path, chat, include_in_schema=False))
    describe_generation(app)
    translate_framework_errors(app)
    app.add_middleware(ErrorEnvelope)
    app.add_middleware(RequestContext, metrics=home.metrics, route_of=_route_of)
    app.state.house = home
    return app


def its_version() -> str:
    """The installed version."""
    try:
        return version("toolwire")
    except PackageNotFoundError:
        return "0+unknown"


def _route_of(path: str) -> str:
    if path in GENERATION:
        return GENERATION[0]
    if path in ADMIN:
        return path
    return "/v1/models/{id}" if path.startswith("/v1/models/") else "other"
