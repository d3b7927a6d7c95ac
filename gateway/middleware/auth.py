"""Lets in who has an API key. Every path needs one, except a few that are named here: what is added later is closed at first."""

import json
from typing import Protocol

from gateway.errors import AuthError, GatewayError, KeyMissing
from gateway.settings import ApiKey, hash_of, masked

from .asgi import App, Message, Receive, Scope, Send
from .caller import HEADERS, Caller, caller

OPEN = frozenset({"/", "/health", "/v1/health", "/ready", "/version", "/docs", "/openapi.json"})
"""They tell nothing of any user, and those who ask for them (probes, browsers) have no key."""
METRICS = "/metrics"
HOW = "Send it as 'Authorization: Bearer KEY', 'x-api-key: KEY' or 'api-key: KEY'."
POLICY_VIOLATION = 1008


class Keys(Protocol):
    """Where keys are looked up by their hash."""

    async def find(self, digest: str) -> ApiKey | None: ...


class Auth:
    """Raises AuthError for requests without a good key, and closes such connections. Nothing stands between it and the client."""

    def __init__(self, app: App, *, keys: Keys, open_metrics: bool) -> None:
        self.app = app
        self.keys = keys
        self.open = OPEN | {METRICS} if open_metrics else OPEN

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or (scope["type"] == "http" and scope["path"] in self.open):
            await self.app(scope, receive, send)
            return
        try:
            secret = secret_of(scope)
            asking = Caller(await self._known(secret))
        except GatewayError as error:
            if scope["type"] == "http":
                raise
            await _refuse_connection(scope, receive, send, error)
            return
        scope[HEADERS] = asking.headers
        if scope["type"] == "websocket":
            receive = self._asked_again(receive, asking, secret)
        token = caller.set(asking)
        try:
            await self.app(scope, receive, send)
        finally:
            caller.reset(token)

    async def _known(self, secret: str) -> ApiKey:
        if not secret:
            raise KeyMissing(f"You didn't provide an API key. {HOW}")
        key = await self.keys.find(hash_of(secret))
        if key is None:
            raise AuthError(f"Incorrect API key provided: {masked(secret)}. Ask whoever runs this server for one.")
        return key

    def _asked_again(self, receive: Receive, asking: Caller, secret: str) -> Receive:
        """A connection lives long: each message on it needs a key that is still good."""

        async def received() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                try:
                    asking.key = await self._known(secret)
                except GatewayError:
                    return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}
            return message

        return received


def secret_of(scope: Scope) -> str:
    """The key that a request came with, or nothing."""
    headers = {name: value.decode("latin-1").strip() for name, value in reversed(scope["headers"])}
    scheme, _, token = headers.get(b"authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return str(token.strip())
    return headers.get(b"x-api-key") or headers.get(b"api-key") or ""


async def _refuse_connection(scope: Scope, receive: Receive, send: Send, error: GatewayError) -> None:
    """With the status and words of an answer where the server can send them."""
    await receive()
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        return
    body = json.dumps(error.body()).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "websocket.http.response.start", "status": error.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})
