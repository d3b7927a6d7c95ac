"""`/v1/conversations` and below: conversations that responses belong to, and their items."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.errors import RequestError
from gateway.middleware.asgi import Receive, Scope
from gateway.protocols.answer import Answer
from gateway.protocols.body import read_json
from gateway.protocols.validation import validated

from . import schema as wire
from .asking import Asking, listed
from .conversations import Kept
from .items import Conversation
from .routes import Base, send_body
from .shape import named
from .tool_set import ToolSet

Json = dict[str, Any]
MOST_ADDED = 20
"""Items that one request may add, as OpenAI has it."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is asked, and the body that came with it."""

    asking: Asking
    body: Json


class Conversational(Base[Told]):
    """An endpoint of conversations."""

    async def ask(self, scope: Scope, receive: Receive) -> Told:
        """Ids stand in the path; what is to be kept comes as body."""
        posted = scope["method"] == "POST"
        return Told(Asking.of(scope), await read_json(scope, receive, self.services.limits) if posted else {})

    async def kept(self, asking: Asking) -> Kept:
        """The conversation that the path names."""
        return await self.services.records.conversations.one(asking.owner, asking.path["conversation_id"])

    async def new_items(self, owner: str, items: Sequence[Json], before: Sequence[Json]) -> list[Json]:
        """Items as they are kept. RequestError names the first that is wrong, or does not go with those `before`."""
        if len(items) > MOST_ADDED:
            expected = f"Expected an array with maximum length {MOST_ADDED}, but got an array with length {len(items)} instead."
            raise RequestError(f"Invalid 'items': array too long. {expected}", param="items", code="array_above_max_length")
        found = await self.services.records.resolved(owner, items, place="items")
        reader = Conversation(ToolSet())
        reader.read(before, "conversation")
        reader.read(found, "items")
        return named(found, secrets.token_hex(12))


class CreateConversation(Conversational):
    """Begins a conversation."""

    async def respond(self, asked: Told, answer: Answer) -> None:
        """Keep its first items."""
        request = validated(wire.ConversationRequest, asked.body)
        items = await self.new_items(asked.asking.owner, request.items, ())
        kept = await self.services.records.conversations.create(asked.asking.owner, request.metadata, items)
        await send_body(answer, kept.shown())


class OneConversation(Conversational):
    """Tells of a conversation, gives it other metadata, and forgets it."""

    methods = ("GET", "POST", "DELETE")

    async def respond(self, asked: Told, answer: Answer) -> None:
        """Read, change or forget it."""
        asking, conversations = asked.asking, self.services.records.conversations
        conversation_id = asking.path["conversation_id"]
        if asking.method == "DELETE":
            await conversations.delete(asking.owner, conversation_id)
            await send_body(answer, {"id": conversation_id, "object": "conversation.deleted", "deleted": True})
            return
        if asking.method == "POST":
            metadata = validated(wire.ConversationUpdate, asked.body).metadata
            await conversations.describe(asking.owner, conversation_id, metadata)
        await send_body(answer, (await self.kept(asking)).shown())


class ConversationItems(Conversational):
    """Lists a conversation's items, and adds some."""

    methods = ("GET", "POST")

    async def respond(self, asked: Told, answer: Answer) -> None:
        """One page, or those that were added."""
        asking = asked.asking
        kept = await self.kept(asking)
        if asking.method == "GET":
            await send_body(answer, asking.page(kept.items))
            return
        request = validated(wire.ConversationItemsRequest, asked.body)
        items = await self.new_items(asking.owner, request.items, kept.items)
        await self.services.records.conversations.add(asking.owner, kept.id, items)
        await send_body(answer, listed(items))


class ConversationItem(Conversational):
    """Tells one item of a conversation, and takes it out."""

    methods = ("GET", "DELETE")

    async def respond(self, asked: Told, answer: Answer) -> None:
        """The item, or the conversation without it."""
        asking = asked.asking
        kept = await self.kept(asking)
        item = kept.item(asking.path["item_id"])
        if asking.method == "GET":
            await send_body(answer, listed([item])["data"][0])
            return
        await self.services.records.conversations.drop(asking.owner, kept.id, item["id"])
        await send_body(answer, kept.shown())
