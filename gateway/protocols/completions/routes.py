"""`POST /v1/completions`: the engine's own endpoint where it has one, else its plain generation."""

import secrets
import time
from collections.abc import AsyncIterator
from typing import Any

from gateway.backends.base import Forwards
from gateway.pipeline.forward import Forwarded, forward
from gateway.pipeline.raw import RawTurn, open_raw
from gateway.protocols.answer import Answer, send_json, told, warning_headers
from gateway.protocols.endpoint import Endpoint
from gateway.protocols.sse import relay

from .decode import Incoming, checked, decoded
from .encode import DONE, Encoder
from .schema import CompletionRequest

PATH = "/v1/completions"


class Completions(Endpoint[CompletionRequest]):
    """Answers prompts that the client wrote itself, streamed and whole."""

    def decode(self, body: dict[str, Any]) -> CompletionRequest:
        """The request, as long as it asks for no more than is allowed."""
        return checked(body, self.limits)

    async def respond(self, asked: CompletionRequest, answer: Answer) -> None:
        """Hand it on, or generate."""
        if isinstance(self.pipeline.catalog.find(asked.model).backend, Forwards):
            await self._forward(asked, answer)
        else:
            await self._generate(asked, decoded(asked, self.limits), answer)

    async def _forward(self, asked: CompletionRequest, answer: Answer) -> None:
        body = asked.model_dump(exclude_unset=True)
        if asked.stream:
            body["stream_options"] = {**body.get("stream_options", {}), "include_usage": True}  # for our own accounts
        async with forward(self.pipeline, PATH, body) as engine:
            if asked.stream:
                await relay(_forwarded(engine, usage=_tells_usage(asked)), answer, keep_alive=self.keep_alive)
                return
            whole = await engine.whole()
        await send_json(answer, whole)

    async def _generate(self, asked: CompletionRequest, incoming: Incoming, answer: Answer) -> None:
        encoder = _encoder(incoming)
        async with open_raw(self.pipeline, incoming.chat, incoming.prompts) as turn:
            if asked.stream:
                frames = _generated(turn, encoder, usage=_tells_usage(asked))
                await relay(frames, answer, warnings=turn.warnings, keep_alive=self.keep_alive)
                return
            async for pieces in turn:
                encoder.take(pieces)
        await send_json(answer, encoder.whole(turn.usage), headers=warning_headers(turn.warnings))


def _encoder(incoming: Incoming) -> Encoder:
    head = {
        "id": f"cmpl-{secrets.token_hex(12)}",
        "object": "text_completion",
        "created": int(time.time()),
        "model": incoming.chat.model,
    }
    repeated = [prompt.text if incoming.echo else "" for prompt in incoming.prompts]
    return Encoder(head, [text for text in repeated for _ in range(incoming.chat.sampling.n)])


def _tells_usage(asked: CompletionRequest) -> bool:
    return asked.stream_options is not None and asked.stream_options.include_usage


async def _generated(turn: RawTurn, encoder: Encoder, *, usage: bool) -> AsyncIterator[bytes]:
    """The stream's frames; a failure is the last."""
    yield encoder.opening()
    try:
        async for pieces in turn:
            yield encoder.encode(pieces)
    except Exception as error:
        yield encoder.failure(told(error))
    else:
        yield encoder.closing(turn.usage if usage else None)


async def _forwarded(answer: Forwarded, *, usage: bool) -> AsyncIterator[bytes]:
    """The frames of an engine's own stream; a failure is the last, with no [DONE] behind it."""
    try:
        async for data in answer.events(usage=usage):
            yield b"data: " + data + b"\n\n"
    except Exception as error:
        yield Encoder({}, ()).failure(told(error))
    else:
        yield DONE
