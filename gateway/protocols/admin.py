"""What operators and clients ask about the server itself: its models, its health, its numbers."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from gateway.backends.base import Forwards, ReplicaState, Replicated
from gateway.errors import BackendUnavailable, ServerStopping
from gateway.pipeline.running import Running
from gateway.planning.catalog import Catalog, ModelSpec
from gateway.protocols.messages import models as anthropic
from gateway.telemetry.metrics import TEXT, Metrics

PROTOCOLS = {"chat_completions": True, "responses": True, "messages": True, "completions": True}
Handler = Callable[..., Awaitable[Any]]
PATIENCE = 2.0
"""Seconds an engine gets to say that it is well."""


def router(catalog: Catalog, metrics: Metrics, version: str, running: Running) -> APIRouter:
    """The control plane's routes."""
    routes = APIRouter(tags=["admin"])

    async def list_models(request: Request) -> Any:
        """The served models."""
        if "anthropic-version" in request.headers:
            return anthropic.listed(catalog.visible(), request.query_params)
        return {"object": "list", "data": [_model(spec) for spec in catalog.visible()]}

    async def one_model(model_id: str, request: Request) -> Any:
        """One model, by name or alias."""
        spec = catalog.find(model_id)
        return anthropic.described(spec) if "anthropic-version" in request.headers else _model(spec)

    async def ready() -> Response:
        """Whether a request would be served now: at least one model's engine says it is well, and nobody stops the server."""
        if not running.accepting:
            stopping = ServerStopping("The gateway is being stopped.")
            return JSONResponse({**stopping.body(), "status": "stopping"}, status_code=stopping.status)
        states = {**catalog.waiting, **await _states(catalog)}
        if "ready" in states.values():
            checks = {spec.name: spec.template_check for spec in catalog}
            return JSONResponse({"status": "ready", "models": states, "template_checks": checks, **_replicas(catalog)})
        error = BackendUnavailable("No model can be served now: " + "; ".join(f"{name}: {why}" for name, why in states.items()))
        told = {**error.body(), "status": "unavailable", "models": states, **_replicas(catalog)}
        return JSONResponse(told, status_code=error.status)

    async def numbers() -> Response:
        """Prometheus metrics."""
        return Response(metrics.exposition(), headers={"content-type": TEXT})

    handlers: Mapping[str, Handler] = {
        **_about(version),
        "/v1/models": list_models,
        "/v1/models/{model_id:path}": one_model,
        "/ready": ready,
        "/metrics": numbers,
    }
    for path, handler in handlers.items():
        routes.add_api_route(path, handler, methods=["GET"], response_model=None)
        routes.add_api_route(path, handler, methods=["HEAD"], response_model=None, include_in_schema=False)
    return routes


def _about(version: str) -> dict[str, Handler]:
    """What needs no more than a running process."""

    async def about() -> dict[str, str]:
        """What answers here; clients ask for it to see whether anything does."""
        return {"name": "toolwire", "version": version, "docs": "/docs"}

    async def health() -> dict[str, str]:
        """Whether the gateway's own process is well."""
        return {"status": "ok"}

    async def its_version() -> dict[str, str]:
        """The gateway's version."""
        return {"version": version}

    return {"/": about, "/health": health, "/v1/health": health, "/version": its_version}


async def _states(catalog: Catalog) -> dict[str, str]:
    async def state(spec: ModelSpec) -> str:
        try:
            async with asyncio.timeout(PATIENCE):
                return "ready" if await spec.backend.healthy() else "its engine does not answer"
        except TimeoutError:
            return "its engine does not answer in time"

    specs = list(catalog)
    return dict(zip((spec.name for spec in specs), await asyncio.gather(*map(state, specs)), strict=True))


def _replicas(catalog: Catalog) -> dict[str, Any]:
    """`replicas`: those of each model that has some, with what is wrong with them."""
    found = {spec.name: spec.backend.replicas() for spec in catalog if isinstance(spec.backend, Replicated)}
    return {"replicas": {name: [_replica(one) for one in replicas] for name, replicas in found.items()}} if found else {}


def _replica(one: ReplicaState) -> dict[str, Any]:
    warnings = [f"{found.message} {found.remedy}" for found in one.findings if found.status != "pass"]
    return {"url": one.place, "state": one.state, "running": one.running, "version": one.version, "warnings": warnings}


def _model(spec: ModelSpec) -> dict[str, Any]:
    constrained = spec.backend.dialect is not None
    return {
        "id": spec.name,
        "object": "model",
        "created": spec.created,
        "owned_by": "toolwire",
        "root": spec.engine_model,
        "max_model_len": spec.context,
        "context_window": spec.context,
        "max_output_tokens": spec.max_tokens,
        "aliases": list(spec.aliases),
        "format": spec.format.name,
        "template_check": spec.template_check,
        "capabilities": {
            "tools": spec.renders_tools,
            "parallel_tools": spec.renders_tools and spec.parallel_calls,
            "strict": constrained,
            "vision": False,
            **PROTOCOLS,
            "embeddings": isinstance(spec.backend, Forwards),
        },
    }
