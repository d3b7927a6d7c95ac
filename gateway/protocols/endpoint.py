"""What every generation endpoint does alike: read a body, answer while the client is there, tell what went wrong."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from gateway.errors import GatewayError, MethodNotAllowed
from gateway.middleware.asgi import DIRECT, Receive, Scope, Send
from gateway.pipeline import Pipeline
from gateway.settings import Limits

from .answer import Answer, send_error, told
from .body import ClientGone, read_json
from .sse import KEEP_ALIVE_SECONDS, while_connected

Asked = TypeVar("Asked")


class Exchange(ABC, Generic[Asked]):
    """A plain ASGI callable for one route: nothing stands between a chunk and the socket."""

    methods: tuple[str, ...] = ("POST",)

    @abstractmethod
    async def ask(self, scope: Scope, receive: Receive) -> Asked:
        """What the client asks for; RequestError when it cannot be told."""

    @abstractmethod
    async def respond(self, asked: Asked, answer: Answer) -> None:
        """Answer it. Whatever is raised before the first byte becomes an error answer."""

    async def refuse(self, send: Send, error: GatewayError) -> None:
        """Send the error in this protocol's words."""
        await send_error(send, error)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. A client that goes away ends it, in either mode, and the generation with it."""
        answer = Answer(send, scope.pop(DIRECT, None))  # it knows the scope: left there, all of this would wait for the collector
        try:
            self._check_method(scope)
            asked = await self.ask(scope, receive)
            await while_connected(receive, answer, self.respond(asked, answer))
        except ClientGone:
            return
        except Exception as error:
            if answer.started:
                raise
            await self.refuse(answer, told(error))

    def _check_method(self, scope: Scope) -> None:
        if scope["method"] not in self.methods:
            known = " or ".join(self.methods)
            message = f"Not allowed to {scope['method']} on {scope['path']}. Use {known}."
            raise MethodNotAllowed(message, allow=", ".join(self.methods))


class Endpoint(Exchange[Asked]):
    """One that takes a body, which alone tells what is asked for."""

    def __init__(self, pipeline: Pipeline, limits: Limits, *, keep_alive: float = KEEP_ALIVE_SECONDS) -> None:
        self.pipeline = pipeline
        self.limits = limits
        self.keep_alive = keep_alive

    @abstractmethod
    def decode(self, body: dict[str, Any]) -> Asked:
        """What the client asks for; RequestError when it cannot be told."""

    async def ask(self, scope: Scope, receive: Receive) -> Asked:
        """Read the body and decode it."""
        return self.decode(await read_json(scope, receive, self.limits))
