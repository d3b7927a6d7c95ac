"""`POST /v1/chat/completions`."""

import secrets
import time
from typing import Any

from gateway.chat.events import Batch
from gateway.pipeline import Turn
from gateway.protocols.answer import Answer, send_json, warning_headers
from gateway.protocols.endpoint import Endpoint
from gateway.protocols.profiles import profile_of
from gateway.protocols.sse import stream

from .decode import Incoming, decoded
from .encode import StreamEncoder
from .shape import Shape
from .whole import whole


class ChatCompletions(Endpoint[Incoming]):
    """Answers chat completion requests, streamed and whole."""

    def decode(self, body: dict[str, Any]) -> Incoming:
        """The request in the gateway's own words."""
        return decoded(body, self.limits)

    async def respond(self, asked: Incoming, answer: Answer) -> None:
        """Take the turn and write it down."""
        async with self.pipeline.open(asked.chat) as turn:
            shape = shape_of(asked, turn)
            turn.answered_as(shape.id, shape.call_id)
            if asked.stream:
                await stream(turn, StreamEncoder(shape), answer, keep_alive=self.keep_alive)
                return
            turn.keep_back()
            batches: list[Batch] = []
            await turn.run(batches.extend)
        body = whole(shape, batches, turn.usage)
        await send_json(answer, body, headers=warning_headers(turn.warnings))


def shape_of(incoming: Incoming, turn: Turn) -> Shape:
    """A new identity for the answer to this request."""
    return Shape(
        token=secrets.token_hex(12),
        created=int(time.time()),
        model=turn.instead or incoming.chat.model,
        choices=incoming.chat.sampling.n,
        include_usage=incoming.include_usage,
        legacy=incoming.legacy,
        named=incoming.chat.tool_choice.mode == "named",
        reasoning=incoming.reasoning,
        custom=incoming.custom,
        profile=profile_of(turn.spec.wire),
    )
