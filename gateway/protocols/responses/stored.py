"""What can be asked of a response that is kept: `/v1/responses/{id}` and below."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from gateway.errors import RequestError
from gateway.middleware.asgi import Receive, Scope, Send
from gateway.protocols.sse import relay
from gateway.protocols.validation import not_among, wrong_type

from .owner import owner_of
from .records import Record
from .routes import Base, send_body
from .runs import Run

Json = dict[str, Any]
ORDERS = ("asc", "desc")
MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class Asking:
    """Which response is meant, and by whom."""

    method: str
    owner: str
    response_id: str
    query: dict[str, str]

    @classmethod
    def of(cls, scope: Scope) -> "Asking":
        """The last value of each query parameter counts."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        found = {name: values[-1] for name, values in query.items()}
        return cls(scope["method"], owner_of(scope), scope["path_params"]["response_id"], found)

    def number(self, name: str, default: int, bounds: tuple[int, int]) -> int:
        """A whole number among the query parameters."""
        text = self.query.get(name)
        if text is None:
            return default
        if not re.fullmatch(r"-?[0-9]{1,9}", text):
            raise wrong_type(name, "an integer", text)
        least, most = bounds
        if not least <= int(text) <= most:
            side, expected = ("below minimum", f">= {least}") if int(text) < least else ("above maximum", f"<= {most}")
            message = f"Invalid '{name}': integer {side} value. Expected a value {expected}, but got {text} instead."
            raise RequestError(message, param=name, code=f"integer_{side.replace(' ', '_').replace('imum', '')}_value")
        return int(text)


class Stored(Base[Asking]):
    """An endpoint below one response."""

    async def ask(self, scope: Scope, receive: Receive) -> Asking:
        """The response's id stands in the path."""
        return Asking.of(scope)


class One(Stored):
    """Retrieves a response, whole or as the stream it was, and deletes it."""

    methods = ("GET", "DELETE")

    async def respond(self, asked: Asking, send: Send) -> None:
        """Read or forget it."""
        if asked.method == "DELETE":
            await self.services.records.delete(asked.owner, asked.response_id)
            await send_body(send, {"id": asked.response_id, "object": "response", "deleted": True})
            return
        record = await self.services.records.one(asked.owner, asked.response_id)
        if asked.query.get("stream", "").lower() in ("true", "1"):
            after = asked.number("starting_after", -1, (-1, 10**9))
            await relay(self._run(asked).follow(after), send, keep_alive=self.services.keep_alive)
            return
        await send_body(send, record.response)

    def _run(self, asked: Asking) -> Run:
        run = self.services.runs.find(asked.owner, asked.response_id)
        if run is None:
            raise RequestError("Only responses that lately ran in the background can be streamed again.", param="stream")
        return run


class Cancel(Stored):
    """Ends a response in the background. One that is over stays as it is."""

    async def respond(self, asked: Asking, send: Send) -> None:
        """Cancel it, and tell what there is of it."""
        record = await self.services.records.one(asked.owner, asked.response_id)
        if not record.response["background"]:
            raise RequestError("Only responses that were created with background=true can be cancelled.", param="response_id")
        left = await self.services.runs.cancel(asked.owner, asked.response_id)
        await send_body(send, left or record.response)


class InputItems(Stored):
    """Lists what a response was made from: the input of its request, and the conversation before it."""

    methods = ("GET",)

    async def respond(self, asked: Asking, send: Send) -> None:
        """One page, the latest items first unless asked otherwise."""
        limit = asked.number("limit", 20, (1, MOST_LISTED))
        order = asked.query.get("order", "desc")
        if order not in ORDERS:
            raise not_among("order", order, ORDERS)
        record = await self.services.records.one(asked.owner, asked.response_id)
        items = await self._items(asked.owner, record)
        if order == "desc":
            items.reverse()
        after = asked.query.get("after")
        start = next((place + 1 for place, item in enumerate(items) if item.get("id") == after), 0) if after else 0
        page = items[start : start + limit]
        ends = (page[0].get("id"), page[-1].get("id")) if page else (None, None)
        more = start + limit < len(items)
        await send_body(send, {"object": "list", "data": page, "first_id": ends[0], "last_id": ends[1], "has_more": more})

    async def _items(self, owner: str, record: Record) -> list[Json]:
        before = await self.services.records.conversation(owner, record.previous)
        return [*before, *map(_listed, record.input)]


def _listed(item: Json) -> Json:
    """Messages have their content as parts, and a status."""
    if item.get("type") != "message":
        return item
    content = item.get("content")
    kind = "output_text" if item.get("role") == "assistant" else "input_text"
    parts = [{"type": kind, "text": content}] if isinstance(content, str) else content
    return {"status": "completed", **item, "content": parts}
