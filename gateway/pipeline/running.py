"""What goes on in the pipeline, so that it can be brought to an end: nothing new is taken, then what is left is interrupted."""

import asyncio
from contextlib import AbstractContextManager
from types import TracebackType

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

    def one(self) -> AbstractContextManager[None]:
        """The time of one request; ServerStopping when no more are taken."""
        return _One(self)

    def interruptible(self) -> AbstractContextManager[None]:
        """Turns an interruption by `end` into an error that the client can be told."""
        return _Interruptible(self)

    def enter(self, task: "asyncio.Task[object]") -> None:
        """A task begins with a request."""
        if not self.accepting:
            raise ServerStopping("This server is about to stop and takes no new requests. Please try again.")
        self._tasks.add(task)
        self._idle.clear()

    def leave(self, task: "asyncio.Task[object]") -> None:
        """It is done with it."""
        self._tasks.discard(task)
        self._interrupted.discard(task)
        if not self._tasks:
            self._idle.set()

    def check(self, error: BaseException | None) -> None:
        """Raises ServerStopping in the place of an error by which `end` interrupts the running task."""
        if not isinstance(error, asyncio.CancelledError) or (task := _this_task()) not in self._interrupted:
            return
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


class _Interruptible(AbstractContextManager[None]):
    __slots__ = ("_running",)

    def __init__(self, running: Running) -> None:
        self._running = running

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._running.check(error)


class _One(_Interruptible):
    __slots__ = ("_task",)

    def __enter__(self) -> None:
        self._task = _this_task()
        self._running.enter(self._task)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._running.check(error)
        finally:
            self._running.leave(self._task)


def _this_task() -> "asyncio.Task[object]":
    task = asyncio.current_task()
    assert task is not None
    return task
