"""`POST /v1/chat/completions` as a plain ASGI callable: nothing stands between a chunk and the socket."""

import secrets
import time

from gateway.errors import MethodNotAllowed
from gateway.middleware.asgi import Receive, Scope, Send
from gateway.pipeline import Pipeline
from gateway.protocols.answer import Answer, send_error, send_json, told, warning_headers
from gateway.protocols.body import ClientGone, read_json
from gateway.protocols.sse import KEEP_ALIVE_SECONDS, stream, while_connected
from gateway.settings import Limits

from .decode import Incoming, decoded
from .encode import StreamEncoder
from .shape import Shape
from .whole import whole


class ChatCompletions:
    """Answers chat completion requests, streamed and whole."""

    def __init__(self, pipeline: Pipeline, limits: Limits, *, keep_alive: float = KEEP_ALIVE_SECONDS) -> None:
        self._pipeline = pipeline
        self._limits = limits
        self._keep_alive = keep_alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. A client that goes away ends it, in either mode, and the generation with it."""
        answer = Answer(send)
        try:
            incoming = await self._read(scope, receive)
            await while_connected(receive, self._respond(incoming, answer))
        except ClientGone:
            return
        except Exception as error:
            if answer.started:
                raise
            await send_error(answer, told(error))

    async def _read(self, scope: Scope, receive: Receive) -> Incoming:
        if scope["method"] != "POST":
            raise MethodNotAllowed(f"Not allowed to {scope['method']} on {scope['path']}. Use POST.")
        return decoded(await read_json(scope, receive, self._limits), self._limits)

    async def _respond(self, incoming: Incoming, answer: Answer) -> None:
        shape = shape_of(incoming)
        async with self._pipeline.open(incoming.chat) as turn:
            if incoming.stream:
                await stream(turn, StreamEncoder(shape), answer, keep_alive=self._keep_alive)
                return
            batches = [batch async for read in turn for batch in read]
        body = whole(shape, batches, turn.usage)
        await send_json(answer, body, headers=warning_headers(turn.warnings))


def shape_of(incoming: Incoming) -> Shape:
    """A new identity for the answer to this request."""
    return Shape(
        token=secrets.token_hex(12),
        created=int(time.time()),
        model=incoming.chat.model,
        choices=incoming.chat.sampling.n,
        include_usage=incoming.include_usage,
        legacy=incoming.legacy,
        named=incoming.chat.tool_choice.mode == "named",
        reasoning=incoming.reasoning,
    )
