"""What goes on in the pipeline, so that it can be brought to an end: nothing new is taken, then what is left is interrupted."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from gateway.errors import ServerStopping


class Running:
    """Requests that have come to the pipeline and not left it."""

    def __init__(self) -> None:
        self.accepting = True
        """Whether new ones are taken."""
        self._tasks: set[asyncio.Task[object]] = set()
        self._interrupted: set[asyncio.Task[object]] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    def __len__(self) -> int:
        return len(self._tasks)

    @contextmanager
    def one(self) -> Iterator[None]:
        """The time of one request; ServerStopping when no more are taken."""
        if not self.accepting:
            raise ServerStopping("This server is about to stop and takes no new requests. Please try again.")
        task = _this_task()
        self._tasks.add(task)
        self._idle.clear()
        try:
            with self.interruptible():
                yield
        finally:
            self._tasks.discard(task)
            self._interrupted.discard(task)
            if not self._tasks:
                self._idle.set()

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Turns an interruption by `end` into an error that the client can be told."""
        try:
            yield
        except asyncio.CancelledError:
            task = _this_task()
            if task not in self._interrupted:
                raise
            self._interrupted.discard(task)
            task.uncancel()
            raise ServerStopping("This server has stopped before the answer was complete. Please try again.") from None

    async def over(self, patience: float) -> bool:
        """Whether all requests end within so many seconds."""
        try:
            async with asyncio.timeout(patience):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    def end(self) -> None:
        """Interrupt what is left: its clients are told."""
        for task in self._tasks:
            self._interrupted.add(task)
            task.cancel()


def _this_task() -> "asyncio.Task[object]":
    task = asyncio.current_task()
    assert task is not None
    return task
