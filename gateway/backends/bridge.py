"""From worker threads to the event loop, without a wake-up per item."""

import asyncio
import threading
from collections import deque
from typing import Generic, TypeVar

Item = TypeVar("Item")
_starting = threading.Lock()


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


class Slots:
    """So many may run at once; the others wait in the order they came.

    A slot is given back by the thread that used it, whether or not the event loop that took it still runs.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def acquire(self) -> None:
        """A slot, once there is one."""
        loop = asyncio.get_running_loop()
        granted = loop.create_future()
        with self._lock:
            if self._free:
                self._free -= 1
                return
            self._waiting.append((loop, granted))
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self.release()  # it came just when it was no longer wanted
            raise

    def release(self) -> None:
        """From any thread: the slot goes to whoever waits longest, in a loop that still runs."""
        with self._lock:
            while self._waiting:
                loop, granted = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(self._grant, granted)
                except RuntimeError:
                    continue  # that loop has been closed, and nobody waits in it
                return
            self._free += 1

    def _grant(self, granted: "asyncio.Future[None]") -> None:
        if granted.done():
            self.release()
        else:
            granted.set_result(None)


class Start:
    """The beginning of a constrained generation, of which one in the whole process may be under way.

    llama.cpp keeps the vocabulary of the grammar that it made last for all models in one place, which nothing guards: when two
    models make one at the same moment, the process may end. Once a generation gives its first chunk, its grammar has been made.
    """

    def __init__(self, *, needed: bool) -> None:
        self._under_way = needed and _starting.acquire()

    def end(self) -> None:
        """From any thread; again does nothing."""
        if self._under_way:
            self._under_way = False
            _starting.release()
