"""From worker threads to the event loop, without a wake-up per item."""

import asyncio
import threading
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Bridge(Generic[Item]):
    """What threads put, one task takes: everything since it last looked, as one list. Made in the loop it belongs to."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._lock = threading.Lock()
        self._items: list[Item] = []

    def put(self, item: Item) -> bool:
        """From any thread. False when the loop has been closed, so that nobody will take it."""
        with self._lock:
            self._items.append(item)
            first = len(self._items) == 1
        if not first:
            return True  # a wake-up is already on its way
        try:
            self._loop.call_soon_threadsafe(self._ready.set)
        except RuntimeError:
            return False
        return True

    async def take(self) -> list[Item]:
        """At least one item."""
        await self._ready.wait()
        self._ready.clear()
        with self._lock:
            items, self._items = self._items, []
        return items
