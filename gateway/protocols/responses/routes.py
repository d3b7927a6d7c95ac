"""`POST /v1/responses` and `POST /v1/responses/input_tokens`."""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.chat.request import ChatRequest
from gateway.errors import GatewayError
from gateway.middleware.asgi import Receive, Scope, Send
from gateway.pipeline import Pipeline
from gateway.protocols.answer import Answer, send_error, send_json, warning_headers
from gateway.protocols.body import read_json
from gateway.protocols.endpoint import Asked, Exchange
from gateway.protocols.sse import KEEP_ALIVE_SECONDS, relay, stream
from gateway.protocols.validation import validated
from gateway.settings import Limits

from . import schema as wire
from .compaction import without_trigger
from .decode import Decoded, check_supported, decoded, echo_of, input_items, summary_of
from .encode import StreamEncoder
from .owner import owner_of
from .records import Records
from .runs import Runs
from .shape import Shape, in_own_words, named
from .taking import Incoming, Taking, opened
from .unheeded import SEALED

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Services:
    """What all endpoints of this protocol share."""

    pipeline: Pipeline
    limits: Limits
    records: Records
    runs: Runs
    keep_alive: float = KEEP_ALIVE_SECONDS


class Base(Exchange[Asked]):
    """An endpoint of this protocol."""

    def __init__(self, services: Services) -> None:
        self.services = services

    async def refuse(self, send: Send, error: GatewayError) -> None:
        """Send the error; what Chat calls messages is the input here."""
        await send_error(send, in_own_words(error))

    async def understood(
        self, request: wire.InputTokensRequest, body: Mapping[str, Any], owner: str
    ) -> tuple[Decoded, list[Json]]:
        """The request with the conversation that it refers to, and its own items."""
        check_supported(request)
        records = self.services.records
        past = await records.past(owner, request.previous_response_id, request.conversation_id)
        items = await records.resolved(owner, input_items(request.input), past=past.items)
        return decoded(request, body, (past, items), self.services.limits), items


class Create(Base[Incoming]):
    """Answers requests for a response: streamed, whole, and in the background."""

    async def ask(self, scope: Scope, receive: Receive) -> Incoming:
        """The request in the gateway's own words."""
        return await self.incoming(await read_json(scope, receive, self.services.limits), owner_of(scope))

    async def incoming(self, body: Json, owner: str) -> Incoming:
        """What this body asks for."""
        request = validated(wire.ResponsesRequest, body)
        understood, items = await self.understood(request, body, owner)
        shape = Shape(
            token=secrets.token_hex(12),
            created=int(time.time()),
            echo=echo_of(request, understood.tools),
            targets=understood.tools.targets,
            summary=summary_of(request) is not None,
            sealed=SEALED in request.include,
            compacts=understood.compacts,
        )
        return Incoming(
            chat=understood.chat,
            tools=understood.tools,
            shape=shape,
            input=named(without_trigger(items)[0], shape.token),
            owner=owner,
            stream=request.stream,
            store=request.store,
            background=request.background,
            conversation=request.conversation_id,
            headless=request.background,
        )

    async def respond(self, asked: Incoming, answer: Answer) -> None:
        """Take the turn and write it down."""
        if asked.background:
            await self._respond_in_background(asked, answer)
            return
        encoder = StreamEncoder(asked.shape)
        async with opened(self.services.pipeline, asked, encoder) as turns:
            taking = Taking(turns, encoder, self.services.records, asked)
            if asked.stream:
                await stream(taking, encoder, answer, keep_alive=self.services.keep_alive)
                return
            turns.keep_back()
            body = await taking.whole()
        await send_body(answer, body, turns.warnings)

    async def _respond_in_background(self, asked: Incoming, answer: Answer) -> None:
        run = await self.services.runs.start(asked)
        if asked.stream:
            await relay(run.follow(), answer, warnings=run.warnings, keep_alive=self.services.keep_alive)
            return
        await send_body(answer, asked.shape.body("queued"), run.warnings)


class InputTokens(Base[ChatRequest]):
    """Tells how many tokens a request's prompt has."""

    async def ask(self, scope: Scope, receive: Receive) -> ChatRequest:
        """The request in the gateway's own words."""
        body = await read_json(scope, receive, self.services.limits)
        understood, _ = await self.understood(validated(wire.InputTokensRequest, body), body, owner_of(scope))
        return understood.chat

    async def respond(self, asked: ChatRequest, answer: Answer) -> None:
        """Render and count."""
        count = await self.services.pipeline.count_tokens(asked)
        await send_body(answer, {"object": "response.input_tokens", "input_tokens": count}, ())


async def send_body(send: Send, body: Json, warnings: Sequence[str] = ()) -> None:
    """One JSON answer with its warnings."""
    text = json.dumps(body, separators=(",", ":")).encode()
    await send_json(send, text, headers=warning_headers(warnings))
