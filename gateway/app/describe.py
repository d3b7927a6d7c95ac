"""The generation routes in the server's own description: they are plain ASGI callables, which FastAPI cannot see into."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI

from gateway.protocols.chat_completions.schema import ChatCompletionRequest

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


def describe_generation(app: FastAPI) -> None:
    """Add the generation routes to `/openapi.json` and `/docs`."""
    own: Callable[[], dict[str, Any]] = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _with_chat(own())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _with_chat(document: dict[str, Any]) -> dict[str, Any]:
    request = ChatCompletionRequest.model_json_schema(ref_template=REFERENCE)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(request.pop("$defs", {}))
    schemas |= {"ChatCompletionRequest": request, "Error": ERROR}
    document["paths"]["/v1/chat/completions"] = {
        "post": {
            "tags": ["generation"],
            "summary": "Create a chat completion",
            "description": "As OpenAI has it; unknown fields are ignored with a warning header.",
            "operationId": "create_chat_completion",
            "requestBody": {"required": True, "content": _json("ChatCompletionRequest")},
            "responses": {
                "200": {"description": "A `chat.completion`, or a stream of `chat.completion.chunk`.", "content": _answers()},
                "default": {"description": "What went wrong.", "content": _json("Error")},
            },
        }
    }
    return document


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": REFERENCE.format(model=name)}}}


def _answers() -> dict[str, Any]:
    return {"application/json": {"schema": {"type": "object"}}, "text/event-stream": {"schema": {"type": "string"}}}
