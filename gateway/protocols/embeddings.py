"""`POST /v1/embeddings`: the engine's own endpoint behind the gateway's names, limits and accounts."""

from typing import Any

from pydantic import ConfigDict

from gateway.pipeline.forward import forward

from .answer import Answer, send_json
from .endpoint import Endpoint
from .validation import validated
from .wire import Body

PATH = "/v1/embeddings"


class EmbeddingRequest(Body):
    """What the gateway itself looks at; all else is the engine's."""

    model_config = ConfigDict(strict=True, extra="allow")

    model: str
    input: Any


class Embeddings(Endpoint[EmbeddingRequest]):
    """Answers with vectors."""

    def decode(self, body: dict[str, Any]) -> EmbeddingRequest:
        """The request."""
        return validated(EmbeddingRequest, body)

    async def respond(self, asked: EmbeddingRequest, answer: Answer) -> None:
        """Hand it on, and the answer back."""
        async with forward(self.pipeline, PATH, asked.model_dump(exclude_unset=True)) as engine:
            whole = await engine.whole()
        await send_json(answer, whole)
