"""Responses as they are kept, and what a request refers to of them.

A record holds its own request's input only; the conversation before it is found by following `previous_response_id`.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.errors import RequestError
from gateway.store import Store

from .conversations import Conversations, NotFound
from .shape import response_id_of

Json = dict[str, Any]
ID = re.compile(r"resp_[0-9a-f]{24}")
MOST_LINKS = 1000
"""Longest conversation that is followed."""


@dataclass(frozen=True, slots=True)
class Record:
    """A response, and the input that its own request brought."""

    response: Json
    input: Sequence[Json]

    @property
    def id(self) -> str:
        return str(self.response["id"])

    @property
    def previous(self) -> str | None:
        return self.response.get("previous_response_id")

    def items(self) -> list[Json]:
        """What it adds to a conversation."""
        return [*self.input, *self.response["output"]]


@dataclass(frozen=True, slots=True)
class Past:
    """What was said before a request, and the field of the request that names it."""

    items: Sequence[Json] = ()
    place: str = "previous_response_id"


@dataclass(frozen=True, slots=True)
class Records:
    """The responses of all owners. `nearby`: holds those of one connection too, also what is not to be stored."""

    store: Store
    nearby: Store | None = None

    @property
    def conversations(self) -> Conversations:
        """The conversations that responses may belong to."""
        return Conversations(self.store)

    async def keep(self, owner: str, record: Record, *, lasting: bool = True) -> None:
        """Keep a response, in place of an earlier state of it."""
        value = json.dumps({"response": record.response, "input": list(record.input)}, separators=(",", ":")).encode()
        if self.nearby is not None:
            await self.nearby.put(owner, record.id, value)
        if lasting:
            await self.store.put(owner, record.id, value)

    async def find(self, owner: str, response_id: str) -> Record | None:
        """The response, if it is kept and is this owner's."""
        if not ID.fullmatch(response_id):
            return None
        value = await self.nearby.get(owner, response_id) if self.nearby is not None else None
        if value is None:
            value = await self.store.get(owner, response_id)
        if value is None:
            return None
        found = json.loads(value)
        return Record(found["response"], found["input"])

    async def one(self, owner: str, response_id: str) -> Record:
        """The response; NotFound when there is none."""
        record = await self.find(owner, response_id)
        if record is None:
            raise not_found(response_id)
        return record

    async def delete(self, owner: str, response_id: str) -> None:
        """Forget a response; NotFound when there is none."""
        if not ID.fullmatch(response_id) or not await self.store.delete(owner, response_id):
            raise not_found(response_id)

    async def past(self, owner: str, response_id: str | None, conversation_id: str | None) -> Past:
        """What was said up to this response, or in this conversation."""
        if conversation_id is not None:
            return Past((await self.conversations.one(owner, conversation_id)).items, "conversation")
        return Past(await self.chain(owner, response_id))

    async def chain(self, owner: str, response_id: str | None) -> list[Json]:
        """All items up to and with this response."""
        links: list[Record] = []
        wanted = response_id
        while wanted is not None and len(links) < MOST_LINKS:
            record = await self.find(owner, wanted)
            if record is None:
                message = f"Previous response with id '{wanted}' not found."
                raise RequestError(message, param="previous_response_id", code="previous_response_not_found")
            links.append(record)
            wanted = record.previous
        return [item for record in reversed(links) for item in record.items()]

    async def resolved(self, owner: str, items: Sequence[Json], *, place: str = "input", past: Sequence[Json] = ()) -> list[Json]:
        """The same items, with each reference replaced by what it refers to: something `past`, or of a response that is kept."""
        known: dict[str, Json] = {item["id"]: item for item in past if "id" in item}
        found: list[Json] = []
        for index, item in enumerate(items):
            if not _is_reference(item):
                found.append(item)
                continue
            item_id = item.get("id")
            if not isinstance(item_id, str):
                field = f"{place}[{index}].id"
                raise RequestError(f"Invalid value for '{field}': expected an item's id.", param=field)
            if item_id not in known:
                known.update(await self._items_beside(owner, item_id))
            if item_id not in known:
                raise NotFound(f"Item with id '{item_id}' not found.", param=place)
            found.append(known[item_id])
        return found

    async def _items_beside(self, owner: str, item_id: str) -> dict[str, Json]:
        """All items of the response that an id of ours belongs to."""
        response_id = response_id_of(item_id)
        record = await self.find(owner, response_id) if response_id else None
        return {item["id"]: item for item in record.items() if "id" in item} if record else {}


def not_found(response_id: str) -> NotFound:
    """The error for a response that is not here (any more)."""
    return NotFound(f"Response with id '{response_id[:100]}' not found.")


def _is_reference(item: Json) -> bool:
    return item.get("type") == "item_reference" or ("type" not in item and "role" not in item and "id" in item)
