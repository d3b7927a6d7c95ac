"""The gateway as one ASGI application: generation goes straight to its endpoint, everything else through the framework."""

from collections.abc import Mapping

from gateway.middleware.asgi import App, Receive, Scope, Send

from .house import House


class Direct:
    """The choice of who answers. `endpoints`: those of generation, by exact path; `control`: the framework, for all others.

    A chunk on its way to the client passes through whatever stands around its endpoint, so the framework does not.
    """

    def __init__(self, endpoints: Mapping[str, App], control: App) -> None:
        self._endpoints = endpoints
        self._control = control

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._endpoints.get(scope["path"]) if scope["type"] == "http" else None
        await (endpoint or self._control)(scope, receive, send)


class Application:
    """What a server runs, and what is inside of it. `outermost` is where every connection enters."""

    def __init__(self, outermost: App, house: House) -> None:
        self._outermost = outermost
        self.house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection, or follow the server's own start and end."""
        await self._outermost(scope, receive, send)
