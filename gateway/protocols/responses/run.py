"""One response in the background: what it has said so far, and those who wait for more."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from .encode import StreamEncoder
from .taking import Incoming


class Run:
    """One response in the background. The number of a frame is its place among all frames."""

    def __init__(self, asked: Incoming) -> None:
        self.asked = asked
        self.encoder = StreamEncoder(asked.shape)
        self.warnings: tuple[str, ...] = ()
        self.accepted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once the engine has taken the request, or refused it."""
        self.frames: list[bytes] = []
        self._news = asyncio.Event()
        self._over = asyncio.Event()

    @property
    def done(self) -> bool:
        """Whether there will be no more frames."""
        return self._over.is_set()

    def add(self, frames: bytes) -> None:
        """Take frames, and tell those who watch."""
        self.frames += [frame + b"\n\n" for frame in frames.split(b"\n\n")[:-1]]
        self._tell()

    def end(self) -> None:
        """There will be no more."""
        self._over.set()
        self._tell()

    async def follow(self, after: int = -1) -> AsyncIterator[bytes]:
        """The frames with greater numbers, as they come."""
        place = after + 1
        while True:
            if frames := self.frames[place:]:
                place += len(frames)
                yield b"".join(frames)
            elif self.done:
                return
            else:
                await self._news.wait()

    async def pause(self, seconds: float, *, for_news: bool = False) -> None:
        """Wait so long, or until it is over; `for_news`: or until there are new frames."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await (self._news if for_news and not self.done else self._over).wait()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
