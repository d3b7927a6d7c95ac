"""What every store looks like: bytes under a key, each owner for itself, for a limited time."""

from typing import Protocol


class Store(Protocol):
    """Keeps what a later request may ask for. Nobody sees what another owner has put here.

    All methods raise StoreUnavailable when the store cannot be reached.
    """

    async def put(self, owner: str, key: str, value: bytes) -> None:
        """Keep a value, in place of the one before, for the store's time to live."""
        ...

    async def get(self, owner: str, key: str) -> bytes | None:
        """The value, whose time begins anew; None when there is none (any more)."""
        ...

    async def delete(self, owner: str, key: str) -> bool:
        """Whether there was something to forget."""
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...
