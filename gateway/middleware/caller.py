"""Who is asking. Set for the time of one request or connection; whatever works for it may look it up."""

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


def may_use(*names: str) -> bool:
    """Whether the caller's key allows a model that has these names."""
    asking = caller.get()
    return asking is None or any(fnmatchcase(name, glob) for glob in asking.key.models for name in names)
