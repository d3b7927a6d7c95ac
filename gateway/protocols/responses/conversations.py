"""Conversations as they are kept: each is a log of what was added and taken away, whose first entry tells what it is.

A log grows in one step, so that two responses which end at once, at two gateways, both find their place in it.
"""

import json
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.errors import RequestError
from gateway.store import Store

Json = dict[str, Any]
ID = re.compile(r"conv_[0-9a-f]{24}")


class NotFound(RequestError):
    """There is no such thing; OpenAI gives no code here."""

    status = 404
    code = None


@dataclass(slots=True)
class Kept:
    """A conversation as it stands."""

    id: str
    created: int
    metadata: Json
    items: list[Json] = field(default_factory=list)

    def shown(self) -> Json:
        """The object that clients are told of."""
        return {"id": self.id, "object": "conversation", "created_at": self.created, "metadata": self.metadata}

    def item(self, item_id: str) -> Json:
        """One of its items; NotFound when there is none of this id."""
        found = next((item for item in self.items if item.get("id") == item_id), None)
        if found is None:
            raise NotFound(f"Item with id '{item_id[:100]}' not found in conversation '{self.id}'.")
        return found


@dataclass(frozen=True, slots=True)
class Conversations:
    """The conversations of all owners. All methods but `create` raise NotFound where there is none (any more)."""

    store: Store

    async def create(self, owner: str, metadata: Json, items: Sequence[Json]) -> Kept:
        """A new one with these items."""
        kept = Kept(f"conv_{secrets.token_hex(12)}", int(time.time()), metadata, list(items))
        head = {"created": kept.created, "metadata": metadata}
        await self.store.append(owner, kept.id, [_entry(head), *_added(items)], begin=True)
        return kept

    async def one(self, owner: str, conversation_id: str) -> Kept:
        """The conversation as it stands."""
        log = await self.store.read(owner, conversation_id) if ID.fullmatch(conversation_id) else []
        if not log:
            raise not_found(conversation_id)
        head = json.loads(log[0])
        kept = Kept(conversation_id, head["created"], head["metadata"])
        for line in log[1:]:
            match json.loads(line):
                case {"item": item}:
                    kept.items.append(item)
                case {"metadata": metadata}:
                    kept.metadata = metadata
                case {"dropped": item_id}:
                    kept.items = [item for item in kept.items if item.get("id") != item_id]
        return kept

    async def add(self, owner: str, conversation_id: str, items: Sequence[Json]) -> None:
        """Put items at its end."""
        if items:
            await self._write(owner, conversation_id, _added(items))

    async def describe(self, owner: str, conversation_id: str, metadata: Json) -> None:
        """Give it other metadata."""
        await self._write(owner, conversation_id, [_entry({"metadata": metadata})])

    async def drop(self, owner: str, conversation_id: str, item_id: str) -> None:
        """Take an item out of it."""
        await self._write(owner, conversation_id, [_entry({"dropped": item_id})])

    async def delete(self, owner: str, conversation_id: str) -> None:
        """Forget it. The responses that it was made of stay."""
        if not ID.fullmatch(conversation_id) or not await self.store.delete(owner, conversation_id):
            raise not_found(conversation_id)

    async def _write(self, owner: str, conversation_id: str, entries: Sequence[bytes]) -> None:
        if not ID.fullmatch(conversation_id) or not await self.store.append(owner, conversation_id, entries):
            raise not_found(conversation_id)


def not_found(conversation_id: str) -> NotFound:
    """The error for a conversation that is not here (any more)."""
    return NotFound(f"Conversation with id '{conversation_id[:100]}' not found.", param="conversation")


def _added(items: Sequence[Json]) -> list[bytes]:
    return [_entry({"item": item}) for item in items]


def _entry(fields: Json) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()
