"""`POST /v1/responses/compact`: a conversation replaced by what its user said and a summary of all else."""

from dataclasses import replace
from typing import Any

from gateway.middleware.asgi import Receive, Scope
from gateway.protocols.answer import Answer
from gateway.protocols.body import read_json
from gateway.protocols.validation import validated
from gateway.protocols.wire import without_effect

from . import schema as wire
from .asking import listed
from .compaction import TRIGGER
from .decode import input_items
from .encode import StreamEncoder
from .owner import owner_of
from .routes import Create, send_body
from .taking import Incoming, Taking, opened
from .unheeded import SILENT

Json = dict[str, Any]


class Compact(Create):
    """Answers with the items that can take a conversation's place."""

    async def ask(self, scope: Scope, receive: Receive) -> Incoming:
        """The request as one for a response that is a summary, and is not kept."""
        body = await read_json(scope, receive, self.services.limits)
        request = validated(wire.CompactRequest, body)
        items = [*input_items(request.input), {"type": TRIGGER}]
        fields = {"model": request.model, "input": items, "store": False, "instructions": request.instructions}
        asked = {**fields, "previous_response_id": request.previous_response_id}
        owner = owner_of(scope)
        incoming = await self.incoming(asked, owner)
        past = await self.services.records.chain(owner, request.previous_response_id)
        warnings = (*incoming.chat.warnings, *without_effect(body, wire.CompactRequest, SILENT))
        said = [item for item in (*past, *incoming.input) if item.get("role") == "user"]
        return replace(incoming, chat=replace(incoming.chat, warnings=warnings), input=said)

    async def respond(self, asked: Incoming, answer: Answer) -> None:
        """Have the summary written."""
        encoder = StreamEncoder(asked.shape)
        async with opened(self.services.pipeline, asked, encoder) as turns:
            response = await Taking(turns, encoder, self.services.records, asked).whole()
        body: Json = {
            "id": response["id"],
            "object": "response.compaction",
            "created_at": response["created_at"],
            "output": [*listed(asked.input)["data"], *response["output"]],
            "usage": response["usage"],
        }
        await send_body(answer, body, turns.warnings)
