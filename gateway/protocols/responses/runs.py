"""Responses in the background: they go on when their client is gone, and can be watched from any place on, or cancelled."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Any

from gateway.errors import LimitError
from gateway.pipeline import Pipeline
from gateway.protocols.answer import told

from .encode import StreamEncoder
from .records import Record, Records
from .taking import Incoming, Taking, keep, opened

Json = dict[str, Any]
MOST_RUNNING = 256
MOST_FINISHED = 64
"""Finished runs that can still be watched from the beginning."""


class Run:
    """One response in the background. The number of a frame is its place among all frames."""

    def __init__(self, asked: Incoming) -> None:
        self.asked = asked
        self.encoder = StreamEncoder(asked.shape)
        self.warnings: tuple[str, ...] = ()
        self.accepted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once the engine has taken the request, or refused it."""
        self.done = False
        self._frames: list[bytes] = []
        self._news = asyncio.Event()

    def add(self, frames: bytes) -> None:
        """Take frames, and tell those who watch."""
        self._frames += [frame + b"\n\n" for frame in frames.split(b"\n\n")[:-1]]
        self._tell()

    def end(self) -> None:
        """There will be no more."""
        self.done = True
        self._tell()

    async def follow(self, after: int = -1) -> AsyncIterator[bytes]:
        """The frames with greater numbers, as they come."""
        place = after + 1
        while True:
            if frames := self._frames[place:]:
                place += len(frames)
                yield b"".join(frames)
            elif self.done:
                return
            else:
                await self._news.wait()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class Runs:
    """All runs of this process."""

    def __init__(self, pipeline: Pipeline, records: Records) -> None:
        self._pipeline = pipeline
        self._records = records
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._runs: OrderedDict[tuple[str, str], Run] = OrderedDict()

    async def start(self, asked: Incoming) -> Run:
        """Begin. Returns once the engine has accepted the request, else raises what it said."""
        if len(self._tasks) >= MOST_RUNNING:
            raise LimitError("Too many responses run in the background. Please try again later.", retry_after=5.0)
        run = Run(asked)
        response_id = asked.shape.id
        await self._records.keep(asked.owner, Record(asked.shape.body("queued"), asked.input))
        self._runs[asked.owner, response_id] = run
        task = asyncio.create_task(self._take(run))
        self._tasks[response_id] = task
        task.add_done_callback(lambda _: self._ended(response_id))
        try:
            await asyncio.shield(run.accepted)
        except Exception:  # whatever refused it, nothing of it may be kept
            self._runs.pop((asked.owner, response_id), None)
            await self._records.store.delete(asked.owner, response_id)
            raise
        return run

    def find(self, owner: str, response_id: str) -> Run | None:
        """The run of this response, if it is (or lately was) one of this process."""
        return self._runs.get((owner, response_id))

    async def cancel(self, owner: str, response_id: str) -> Json | None:
        """The response as it was left; None when it does not run here."""
        run, task = self.find(owner, response_id), self._tasks.get(response_id)
        if run is None:
            return None
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))
        return run.encoder.result

    async def close(self) -> None:
        """Cancel everything."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ended(self, response_id: str) -> None:
        self._tasks.pop(response_id, None)
        finished = [key for key, run in self._runs.items() if run.done]
        for key in finished[:-MOST_FINISHED]:
            del self._runs[key]

    async def _take(self, run: Run) -> None:
        asked, encoder = run.asked, run.encoder
        try:
            async with opened(self._pipeline, asked, encoder) as turns:
                run.warnings = tuple(turns.warnings)
                run.add(encoder.opening())
                await keep(self._records, asked, encoder)
                run.accepted.set_result(None)
                async for batches in Taking(turns, encoder, self._records, asked):
                    run.add(encoder.encode(batches))
            run.add(encoder.last())
        except asyncio.CancelledError:
            await self._cancelled(run)
        except Exception as error:
            if not run.accepted.done():
                run.accepted.set_exception(told(error))
                return
            run.add(encoder.failure(told(error)))
        finally:
            run.end()

    async def _cancelled(self, run: Run) -> None:
        """What is over already stays as it is."""
        if run.encoder.result["status"] == "in_progress":
            run.encoder.cancel()
            await keep(self._records, run.asked, run.encoder)
        run.add(run.encoder.last())
        if not run.accepted.done():
            run.accepted.set_result(None)
