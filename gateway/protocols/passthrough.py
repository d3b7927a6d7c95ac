"""`POST /v1/completions` and `/v1/embeddings`: the engine's own endpoints behind the gateway's names, limits and accounts."""

import json
from collections.abc import AsyncIterator
from typing import Any

from pydantic import ConfigDict

from gateway.errors import RequestError
from gateway.middleware.asgi import Send
from gateway.pipeline.forward import Forwarded, forward

from .answer import send_json, told
from .endpoint import Endpoint
from .sse import relay
from .validation import validated
from .wire import Body, Natural, Positive

COMPLETIONS = "/v1/completions"
EMBEDDINGS = "/v1/embeddings"


class StreamOptions(Body):
    """Whether the tokens spent are told at the end."""

    include_usage: bool = False


class CompletionRequest(Body):
    """What the gateway itself looks at; all else is the engine's."""

    model_config = ConfigDict(strict=True, extra="allow")

    model: str
    prompt: Any
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Positive = 1
    best_of: Positive | None = None
    max_tokens: Natural | None = None


class EmbeddingRequest(Body):
    """What the gateway itself looks at; all else is the engine's."""

    model_config = ConfigDict(strict=True, extra="allow")

    model: str
    input: Any


class Completions(Endpoint[CompletionRequest]):
    """Answers prompts that the client wrote itself, streamed and whole."""

    def decode(self, body: dict[str, Any]) -> CompletionRequest:
        """The request, as long as it asks for no more than is allowed."""
        request = validated(CompletionRequest, body)
        for name in ("n", "best_of"):
            asked = getattr(request, name) or 1
            if asked > self.limits.choices:
                expected = f"Expected a value <= {self.limits.choices}, but got {asked} instead."
                message = f"Invalid '{name}': integer above maximum value. {expected}"
                raise RequestError(message, param=name, code="integer_above_max_value")
        return request

    async def respond(self, asked: CompletionRequest, send: Send) -> None:
        """Hand it on, and the answer back."""
        body = asked.model_dump(exclude_unset=True)
        if asked.stream:
            body["stream_options"] = {**body.get("stream_options", {}), "include_usage": True}  # for our own accounts
        async with forward(self.pipeline, COMPLETIONS, body) as answer:
            if asked.stream:
                usage = asked.stream_options is not None and asked.stream_options.include_usage
                await relay(_frames(answer, usage=usage), send, keep_alive=self.keep_alive)
                return
            whole = await answer.whole()
        await send_json(send, whole)


class Embeddings(Endpoint[EmbeddingRequest]):
    """Answers with vectors."""

    def decode(self, body: dict[str, Any]) -> EmbeddingRequest:
        """The request."""
        return validated(EmbeddingRequest, body)

    async def respond(self, asked: EmbeddingRequest, send: Send) -> None:
        """Hand it on, and the answer back."""
        async with forward(self.pipeline, EMBEDDINGS, asked.model_dump(exclude_unset=True)) as answer:
            whole = await answer.whole()
        await send_json(send, whole)


async def _frames(answer: Forwarded, *, usage: bool) -> AsyncIterator[bytes]:
    """The stream's frames; a failure is the last, with no [DONE] behind it."""
    try:
        async for data in answer.events(usage=usage):
            yield b"data: " + data + b"\n\n"
    except Exception as error:
        yield f"data: {json.dumps(told(error).body())}\n\n".encode()
    else:
        yield b"data: [DONE]\n\n"
