"""A store in the gateway's own memory: gone with the process, bounded in number, bytes and time."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Key = tuple[str, str]
OVERHEAD = 300
"""Bytes that an entry takes besides its value."""
EACH = 50
"""Bytes that a value in a log takes besides itself."""


@dataclass(slots=True)
class _Entry:
    expires: float
    value: bytes | None = None
    log: list[bytes] = field(default_factory=list)
    cost: int = 0


class MemoryStore:
    """Forgets what was not used for longest once there is too much. A log counts as one entry."""

    shared = False

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
        self._grow((owner, key), _Entry(0.0, value), len(value) + OVERHEAD)

    async def get(self, owner: str, key: str) -> bytes | None:
        """The value, if it is still here."""
        entry = self._used((owner, key))
        return None if entry is None else entry.value

    async def append(self, owner: str, key: str, values: Sequence[bytes], *, begin: bool = False) -> bool:
        """Make a log longer; one that gets larger than the whole store is not kept."""
        entry = self._used((owner, key))
        if entry is None and not begin:
            return False
        more = sum(len(value) + EACH for value in values)
        if entry is None:
            entry, more = _Entry(0.0), more + OVERHEAD
        entry.log += values
        self._grow((owner, key), entry, more)
        return (owner, key) in self._kept

    async def read(self, owner: str, key: str, start: int = 0) -> list[bytes]:
        """The log, if it is still here."""
        entry = self._used((owner, key))
        return [] if entry is None else entry.log[start:]

    async def delete(self, owner: str, key: str) -> bool:
        """Whether it was here."""
        self._make_room()
        return self._forget((owner, key))

    async def close(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self.bytes = 0

    def _used(self, key: Key) -> _Entry | None:
        """The entry, whose time begins anew."""
        self._make_room()
        entry = self._kept.get(key)
        if entry is not None:
            entry.expires = self._clock() + self._ttl
            self._kept.move_to_end(key)
        return entry

    def _grow(self, key: Key, entry: _Entry, more: int) -> None:
        """Keep the entry, which takes so many bytes more than before."""
        entry.cost += more
        entry.expires = self._clock() + self._ttl
        self._kept[key] = entry
        self.bytes += more
        if entry.cost > self._most_bytes:
            self._forget(key)
        self._make_room()

    def _forget(self, key: Key) -> bool:
        entry = self._kept.pop(key, None)
        if entry is None:
            return False
        self.bytes -= entry.cost
        return True

    def _make_room(self) -> None:
        now = self._clock()
        while self._kept:
            key, entry = next(iter(self._kept.items()))
            if entry.expires > now and len(self._kept) <= self._most_entries and self.bytes <= self._most_bytes:
                return
            self._forget(key)
