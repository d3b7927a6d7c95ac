"""Who is asking. Set for the time of one request or connection; whatever works for it may look it up."""

import hashlib
from contextvars import ContextVar
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from gateway.settings import ApiKey

HEADERS = "toolwire.headers"
"""Where in a request's scope the headers are that its answer gets besides its own."""


@dataclass(slots=True)
class Caller:
    """An API key in use."""

    key: ApiKey
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    """How its limits stand, for the answer."""


caller: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""None where no key is needed."""


def cache_salt(own: str | None) -> str | None:
    """What keeps the prompts of the caller's key apart from those of others in an engine's cache, and within it those that it
    salts with a word of its `own`; without a key only that word counts."""
    asking = caller.get()
    if asking is None:
        return own
    return hashlib.sha256(f"cache {asking.key.hash} {own or ''}".encode()).hexdigest()


def may_use(*names: str) -> bool:
    """Whether the caller's key allows a model that has these names."""
    asking = caller.get()
    return asking is None or any(fnmatchcase(name, glob) for glob in asking.key.models for name in names)
