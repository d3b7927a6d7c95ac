"""Whose response it is: that of the API key the request came with."""

import hashlib

from gateway.middleware.asgi import Scope
from gateway.middleware.caller import caller

ANYBODY = "anybody"
KEYS = (b"authorization", b"x-api-key")


def owner_of(scope: Scope) -> str:
    """A name for the key that does not give it away: the key that let the request in, or any it brought where none is needed."""
    asking = caller.get()
    if asking is not None:
        return asking.key.hash[:32]
    for name, value in scope["headers"]:
        if name in KEYS and value.strip():
            key = value.strip().removeprefix(b"Bearer ").strip()
            return hashlib.sha256(key).hexdigest()[:32]
    return ANYBODY
