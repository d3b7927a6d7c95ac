"""What every store looks like: bytes, or a log of them, under a key, each owner for itself, for a limited time."""

from collections.abc import Sequence
from typing import Protocol


class Store(Protocol):
    """Keeps what a later request may ask for. Nobody sees what another owner has put here.

    A key holds a value or a log, never both in turn. All methods raise StoreUnavailable when the store cannot be reached.
    """

    shared: bool
    """Whether other gateways see what is kept here."""

    async def put(self, owner: str, key: str, value: bytes) -> None:
        """Keep a value, in place of the one before, for the store's time to live."""
        ...

    async def get(self, owner: str, key: str) -> bytes | None:
        """The value, whose time begins anew; None when there is none (any more)."""
        ...

    async def append(self, owner: str, key: str, values: Sequence[bytes], *, begin: bool = False) -> bool:
        """Put values at the end of a log, whose time begins anew. Whether there is such a log; `begin`: there is one now."""
        ...

    async def read(self, owner: str, key: str, start: int = 0) -> list[bytes]:
        """A log from this place on; its time begins anew. Empty when there is none (any more), or nothing behind that place."""
        ...

    async def delete(self, owner: str, key: str) -> bool:
        """Whether there was something to forget."""
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...
