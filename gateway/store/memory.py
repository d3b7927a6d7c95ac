"""A store in the gateway's own memory: gone with the process, bounded in number, bytes and time."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

Key = tuple[str, str]
OVERHEAD = 300
"""Bytes that an entry takes besides its value."""


@dataclass(slots=True)
class _Entry:
    value: bytes
    expires: float


class MemoryStore:
    """Forgets what was not used for longest once there is too much."""

    def __init__(self, *, ttl: float, entries: int, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._ttl = ttl
        self._most_entries = entries
        self._most_bytes = size
        self._clock = clock
        self._kept: OrderedDict[Key, _Entry] = OrderedDict()
        """The one used last comes last; as using it also begins its time anew, the one that expires first comes first."""
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    async def put(self, owner: str, key: str, value: bytes) -> None:
        """Keep a value; one that is larger than the whole store is not kept."""
        self._forget((owner, key))
        if _cost(value) > self._most_bytes:
            return
        self._kept[owner, key] = _Entry(value, self._clock() + self._ttl)
        self.bytes += _cost(value)
        self._make_room()

    async def get(self, owner: str, key: str) -> bytes | None:
        """The value, if it is still here."""
        self._make_room()
        entry = self._kept.get((owner, key))
        if entry is None:
            return None
        entry.expires = self._clock() + self._ttl
        self._kept.move_to_end((owner, key))
        return entry.value

    async def delete(self, owner: str, key: str) -> bool:
        """Whether it was here."""
        self._make_room()
        return self._forget((owner, key))

    async def close(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self.bytes = 0

    def _forget(self, key: Key) -> bool:
        entry = self._kept.pop(key, None)
        if entry is None:
            return False
        self.bytes -= _cost(entry.value)
        return True

    def _make_room(self) -> None:
        now = self._clock()
        while self._kept:
            key, entry = next(iter(self._kept.items()))
            if entry.expires > now and len(self._kept) <= self._most_entries and self.bytes <= self._most_bytes:
                return
            self._forget(key)


def _cost(value: bytes) -> int:
    return len(value) + OVERHEAD
