"""The events of a background response in the store, where every gateway finds them, also when the one that runs it is gone.

An entry holds the time it was written and some frames; one without frames only says that the response still runs.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from gateway.store import Store

ENDS = tuple(b"event: response." + how for how in (b"completed", b"incomplete", b"failed", b"cancelled"))
"""How the last frame of every response begins."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds. Gateways that share a store must agree on them, and on the time of day by less than `silence`."""

    gather: float = 0.1
    """Between two writes, and between two looks at what others wrote."""
    beat: float = 5.0
    """After which a running response says so where it has nothing else to say."""
    silence: float = 30.0
    """After which a response that says nothing is lost."""
    patience: float = 5.0
    """How long a cancellation waits for the gateway that runs the response."""


@dataclass(frozen=True, slots=True)
class EventLog:
    """The log of one response."""

    store: Store
    owner: str
    response_id: str
    pace: Pace = Pace()

    @property
    def _key(self) -> str:
        return f"{self.response_id}:events"

    @property
    def _wish(self) -> str:
        return f"{self.response_id}:cancel"

    async def write(self, frames: Sequence[bytes]) -> None:
        """Add these frames; none of them means that the response still runs."""
        await self.store.append(self.owner, self._key, [b"%d\n" % time.time() + b"".join(frames)], begin=True)

    async def exists(self) -> bool:
        """Whether there is anything to follow."""
        return bool(await self.store.read(self.owner, self._key, -1))

    async def lost(self) -> bool:
        """Whether the gateway that ran the response has gone, leaving it unfinished."""
        entries = await self.store.read(self.owner, self._key, -1)
        return not entries or _age(entries[-1]) > self.pace.silence

    async def follow(self, after: int = -1) -> AsyncIterator[tuple[bytes, int]]:
        """The frames with greater numbers, as they are written, each time with the number of all frames up to there. Ends behind
        the last one, or once the response is lost."""
        place, number, last = 0, 0, b""
        while not ends(last):
            entries = await self.store.read(self.owner, self._key, place)
            place += len(entries)
            frames = [frame for entry in entries for frame in _frames(entry)]
            last = frames[-1] if frames else last
            news = frames[max(0, after + 1 - number) :]
            number += len(frames)
            if news:
                yield b"".join(news), number
            if not entries:
                if await self.lost():
                    return
                await asyncio.sleep(self.pace.gather)

    async def ask_to_cancel(self) -> None:
        """Tell the gateway that runs the response to stop it."""
        await self.store.append(self.owner, self._wish, [b""], begin=True)

    async def cancel_asked(self) -> bool:
        """Whether another gateway was asked to cancel the response."""
        return bool(await self.store.read(self.owner, self._wish))

    async def delete(self) -> None:
        """Forget it."""
        await self.store.delete(self.owner, self._key)
        await self.store.delete(self.owner, self._wish)


def ends(frame: bytes) -> bool:
    """Whether it is the last one of a response."""
    return frame.startswith(ENDS)


def _age(entry: bytes) -> float:
    return time.time() - int(entry.partition(b"\n")[0])


def _frames(entry: bytes) -> list[bytes]:
    return [frame + b"\n\n" for frame in entry.partition(b"\n")[2].split(b"\n\n")[:-1]]
