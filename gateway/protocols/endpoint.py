"""What every generation endpoint does alike: read a body, answer while the client is there, tell what went wrong."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from gateway.errors import GatewayError, MethodNotAllowed
from gateway.middleware.asgi import Receive, Scope, Send
from gateway.pipeline import Pipeline
from gateway.settings import Limits

from .answer import Answer, send_error, told
from .body import ClientGone, read_json
from .sse import KEEP_ALIVE_SECONDS, while_connected

Asked = TypeVar("Asked")


class Endpoint(ABC, Generic[Asked]):
    """A plain ASGI callable for one POST route: nothing stands between a chunk and the socket."""

    def __init__(self, pipeline: Pipeline, limits: Limits, *, keep_alive: float = KEEP_ALIVE_SECONDS) -> None:
        self.pipeline = pipeline
        self.limits = limits
        self.keep_alive = keep_alive

    @abstractmethod
    def decode(self, body: dict[str, Any]) -> Asked:
        """What the client asks for; RequestError when it cannot be told."""

    @abstractmethod
    async def respond(self, asked: Asked, send: Send) -> None:
        """Answer it. Whatever is raised before the first byte becomes an error answer."""

    async def refuse(self, send: Send, error: GatewayError) -> None:
        """Send the error in this protocol's words."""
        await send_error(send, error)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. A client that goes away ends it, in either mode, and the generation with it."""
        answer = Answer(send)
        try:
            asked = await self._read(scope, receive)
            await while_connected(receive, self.respond(asked, answer))
        except ClientGone:
            return
        except Exception as error:
            if answer.started:
                raise
            await self.refuse(answer, told(error))

    async def _read(self, scope: Scope, receive: Receive) -> Asked:
        if scope["method"] != "POST":
            raise MethodNotAllowed(f"Not allowed to {scope['method']} on {scope['path']}. Use POST.")
        return self.decode(await read_json(scope, receive, self.limits))
