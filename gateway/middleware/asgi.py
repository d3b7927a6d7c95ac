"""The words of ASGI."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
DirectWrite = Callable[[bytes], Callable[[], Awaitable[None]] | None]
"""Writes a piece of an answer's body whose head has been sent, and tells what must be waited for before the next piece: a client
that takes nothing."""
DIRECT = "toolwire.direct"
"""Where in a request's scope a server leaves its DirectWrite, if it has one."""
ARRIVED = "toolwire.arrived"
"""Set in a request's scope once all of its body has come, so that nobody need wait for it."""
App = Callable[[Scope, Receive, Send], Awaitable[None]]
