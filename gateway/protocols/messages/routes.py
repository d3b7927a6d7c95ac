"""`POST /v1/messages` and `POST /v1/messages/count_tokens`."""

import json
import secrets
from dataclasses import replace
from typing import Any

from gateway.chat.events import Batch
from gateway.chat.request import ChatRequest
from gateway.errors import GatewayError
from gateway.middleware.asgi import Send
from gateway.protocols.answer import Answer, send_json, warning_headers
from gateway.protocols.endpoint import Endpoint
from gateway.protocols.sse import stream

from .decode import Incoming, decoded, decoded_count
from .encode import PING, StreamEncoder
from .refusal import send_error
from .shape import Shape
from .whole import whole


class Messages(Endpoint[Incoming]):
    """Answers messages, streamed and whole."""

    def decode(self, body: dict[str, Any]) -> Incoming:
        """The request in the gateway's own words."""
        return decoded(body, self.limits)

    async def respond(self, asked: Incoming, answer: Answer) -> None:
        """Take the turn and write it down."""
        shape = Shape(secrets.token_hex(12), asked.chat.model)
        async with self.pipeline.open(asked.chat) as turn:
            turn.answered_as(shape.id, lambda _, place: shape.call_id(place))
            shape = replace(shape, model=turn.instead or shape.model)
            if asked.stream:
                encoder = StreamEncoder(shape, prompt_tokens=turn.usage.prompt_tokens)
                await stream(turn, encoder, answer, keep_alive=self.keep_alive, sign=PING)
                return
            turn.keep_back()
            batches: list[Batch] = []
            await turn.run(batches.extend)
        await send_json(answer, whole(shape, batches, turn.usage), headers=warning_headers(turn.warnings))

    async def refuse(self, send: Send, error: GatewayError) -> None:
        """Send the error in Anthropic's shape."""
        await send_error(send, error)


class CountTokens(Endpoint[ChatRequest]):
    """Tells how many tokens a request's prompt has."""

    def decode(self, body: dict[str, Any]) -> ChatRequest:
        """The request in the gateway's own words."""
        return decoded_count(body, self.limits)

    async def respond(self, asked: ChatRequest, answer: Answer) -> None:
        """Render and count."""
        count = await self.pipeline.count_tokens(asked)
        await send_json(answer, json.dumps({"input_tokens": count}).encode(), headers=warning_headers(asked.warnings))

    async def refuse(self, send: Send, error: GatewayError) -> None:
        """Send the error in Anthropic's shape."""
        await send_error(send, error)
