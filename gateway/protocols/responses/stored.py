"""What can be asked of a response that is kept: `/v1/responses/{id}` and below."""

from typing import Any

from gateway.errors import RequestError
from gateway.middleware.asgi import Receive, Scope
from gateway.protocols.answer import Answer
from gateway.protocols.sse import relay

from .asking import Asking
from .records import Record
from .routes import Base, send_body

Json = dict[str, Any]


class Stored(Base[Asking]):
    """An endpoint below one response."""

    async def ask(self, scope: Scope, receive: Receive) -> Asking:
        """The response's id stands in the path."""
        return Asking.of(scope)


class One(Stored):
    """Retrieves a response, whole or as the stream it was, and deletes it."""

    methods = ("GET", "DELETE")

    async def respond(self, asked: Asking, answer: Answer) -> None:
        """Read or forget it."""
        record = await self.services.records.one(asked.owner, asked.path["response_id"])
        if asked.method == "DELETE":
            await self.services.runs.forget(asked.owner, record)
            await send_body(answer, {"id": record.id, "object": "response", "deleted": True})
        elif asked.query.get("stream", "").lower() in ("true", "1"):
            after = asked.number("starting_after", -1, (-1, 10**9))
            frames = await self.services.runs.follow(asked.owner, record, after)
            if frames is None:
                raise RequestError("Only responses that ran in the background can be streamed again.", param="stream")
            await relay(frames, answer, keep_alive=self.services.keep_alive)
        else:
            await send_body(answer, await self.services.runs.now(asked.owner, record))


class Cancel(Stored):
    """Ends a response in the background. One that is over stays as it is."""

    async def respond(self, asked: Asking, answer: Answer) -> None:
        """Cancel it, and tell what there is of it."""
        record = await self.services.records.one(asked.owner, asked.path["response_id"])
        if not record.response["background"]:
            raise RequestError("Only responses that were created with background=true can be cancelled.", param="response_id")
        await send_body(answer, await self.services.runs.cancel(asked.owner, record))


class InputItems(Stored):
    """Lists what a response was made from: the input of its request, and the conversation before it."""

    methods = ("GET",)

    async def respond(self, asked: Asking, answer: Answer) -> None:
        """One page, the latest items first unless asked otherwise."""
        record = await self.services.records.one(asked.owner, asked.path["response_id"])
        await send_body(answer, asked.page(await self._items(asked.owner, record)))

    async def _items(self, owner: str, record: Record) -> list[Json]:
        return [*await self.services.records.chain(owner, record.previous), *record.input]
