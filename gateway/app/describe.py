"""The generation routes in the server's own description: they are plain ASGI callables, which FastAPI cannot see into."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from gateway.protocols.chat_completions.schema import ChatCompletionRequest
from gateway.protocols.completions.schema import CompletionRequest
from gateway.protocols.embeddings import EmbeddingRequest
from gateway.protocols.messages.schema import CountTokensRequest, MessagesRequest
from gateway.protocols.responses.schema import CompactRequest, ConversationRequest, InputTokensRequest, ResponsesRequest

REFERENCE = "#/components/schemas/{model}"
ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
            "required": ["message", "type", "param", "code"],
        }
    },
    "required": ["error"],
}
ANTHROPIC_ERROR = {
    "type": "object",
    "properties": {
        "type": {"const": "error"},
        "error": {
            "type": "object",
            "properties": {"type": {"type": "string"}, "message": {"type": "string"}},
            "required": ["type", "message"],
        },
        "request_id": {"type": ["string", "null"]},
    },
    "required": ["type", "error"],
}


@dataclass(frozen=True)
class Described:
    """One route: what it takes and what it gives."""

    request: type[BaseModel]
    summary: str
    answer: str
    streams: bool = True
    error: str = "Error"


ROUTES: Mapping[str, Described] = {
    "/v1/chat/completions": Described(
        ChatCompletionRequest, "Create a chat completion", "A `chat.completion`, or a stream of `chat.completion.chunk`."
    ),
    "/v1/responses": Described(ResponsesRequest, "Create a response", "A `response`, or a stream of its events."),
    "/v1/responses/input_tokens": Described(
        InputTokensRequest, "Count a response's input tokens", "`input_tokens`.", streams=False
    ),
    "/v1/responses/compact": Described(
        CompactRequest, "Make a conversation shorter", "The items that can take its place.", streams=False
    ),
    "/v1/conversations": Described(ConversationRequest, "Create a conversation", "The conversation.", streams=False),
    "/v1/messages": Described(
        MessagesRequest, "Create a message", "A `message`, or a stream of its events.", error="AnthropicError"
    ),
    "/v1/messages/count_tokens": Described(
        CountTokensRequest, "Count a message's tokens", "`input_tokens`.", streams=False, error="AnthropicError"
    ),
    "/v1/completions": Described(CompletionRequest, "Create a completion", "A `text_completion`, whole or as a stream."),
    "/v1/embeddings": Described(EmbeddingRequest, "Create embeddings", "The engine's answer.", streams=False),
}


def describe_generation(app: FastAPI) -> None:
    """Add the generation routes to `/openapi.json` and `/docs`."""
    own: Callable[[], dict[str, Any]] = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _with_routes(own())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _with_routes(document: dict[str, Any]) -> dict[str, Any]:
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas |= {"Error": ERROR, "AnthropicError": ANTHROPIC_ERROR}
    for path, route in ROUTES.items():
        name = route.request.__name__
        request = route.request.model_json_schema(ref_template=REFERENCE.replace("{model}", f"{name}.{{model}}"))
        schemas.update({f"{name}.{inner}": schema for inner, schema in request.pop("$defs", {}).items()})
        schemas[name] = request
        document["paths"][path] = {"post": _operation(route)}
    return document


def _operation(route: Described) -> dict[str, Any]:
    kinds = ("application/json", "text/event-stream") if route.streams else ("application/json",)
    answers = {kind: {"schema": {"type": "object" if kind == "application/json" else "string"}} for kind in kinds}
    return {
        "tags": ["generation"],
        "summary": route.summary,
        "description": "Unknown fields are ignored with a warning header.",
        "operationId": route.summary.lower().replace("'", "").replace(" ", "_"),
        "requestBody": {"required": True, "content": _json(route.request.__name__)},
        "responses": {
            "200": {"description": route.answer, "content": answers},
            "default": {"description": "What went wrong.", "content": _json(route.error)},
        },
    }


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": REFERENCE.format(model=name)}}}
