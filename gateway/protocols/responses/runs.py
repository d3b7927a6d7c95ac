"""Responses in the background: they go on when their client is gone, and can be watched from any place on, or cancelled, at every
gateway that shares the store."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

from gateway.errors import LimitError, StoreUnavailable
from gateway.pipeline import Pipeline
from gateway.protocols.answer import told
from gateway.protocols.sse import write_out

from .encode import frame
from .event_log import EventLog, Pace, ends
from .records import Record, Records
from .run import Run
from .taking import Incoming, Taking, keep, opened

Json = dict[str, Any]
MOST_RUNNING = 256
RUNNING = ("queued", "in_progress")
MOST_FAILURES = 3
"""Attempts to write the end of a log into a store that cannot be reached."""
LOST: Json = {"code": "server_error", "message": "The server that ran this response has gone away. Please ask again."}
log = logging.getLogger(__name__)


class Runs:
    """All runs of this process, and the way to those of others."""

    def __init__(self, pipeline: Pipeline, records: Records, pace: Pace | None = None) -> None:
        self._pipeline = pipeline
        self._records = records
        self._pace = pace or Pace()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._runs: dict[tuple[str, str], Run] = {}
        """Those whose events are not all in their log yet."""

    def log_of(self, owner: str, response_id: str) -> EventLog:
        """The events of a response, wherever it runs or ran."""
        return EventLog(self._records.store, owner, response_id, self._pace)

    async def start(self, asked: Incoming) -> Run:
        """Begin. Returns once the engine has accepted the request, else raises what it said."""
        if len(self._tasks) >= MOST_RUNNING:
            raise LimitError("Too many responses run in the background. Please try again later.", retry_after=5.0)
        run = Run(asked)
        owner, response_id = asked.owner, asked.shape.id
        await self.log_of(owner, response_id).write(())
        await self._records.keep(owner, Record(asked.shape.body("queued"), asked.input))
        self._runs[owner, response_id] = run
        task = asyncio.create_task(self._take(run))
        self._tasks[response_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(response_id, None))
        try:
            await asyncio.shield(run.accepted)
        except Exception:  # whatever refused it, nothing of it may be kept
            await asyncio.wait((task,))
            await self.log_of(owner, response_id).delete()
            await self._records.store.delete(owner, response_id)
            raise
        return run

    async def follow(self, owner: str, record: Record, after: int) -> AsyncIterator[bytes] | None:
        """Its frames from a place on, as they come; None when there are none (any more)."""
        run = self._runs.get((owner, record.id))
        if run is not None:
            return run.follow(after)
        return self._followed(owner, record, after) if await self.log_of(owner, record.id).exists() else None

    async def _followed(self, owner: str, record: Record, after: int) -> AsyncIterator[bytes]:
        """Frames that another gateway writes, or wrote. Those of one that has gone end with a failure."""
        last, reached = b"", 0
        async for frames, number in self.log_of(owner, record.id).follow(after):
            yield frames
            last, reached = b"event: " + frames.rpartition(b"event: ")[2], number
        if not ends(last):
            response = await self.now(owner, record)
            yield frame(f"response.{response['status']}", reached, {"response": response})

    async def now(self, owner: str, record: Record) -> Json:
        """The response as it stands: one that was running when its gateway went away has failed."""
        if record.response["status"] not in RUNNING or (owner, record.id) in self._runs:
            return record.response
        if not await self.log_of(owner, record.id).lost():
            return record.response
        kept = await self._records.find(owner, record.id)
        if kept is None:  # somebody has deleted it
            return {**record.response, "status": "cancelled"}
        if kept.response["status"] not in RUNNING:
            return kept.response
        response = {**kept.response, "status": "failed", "error": LOST}
        await self._records.keep(owner, Record(response, kept.input))
        return response

    async def cancel(self, owner: str, record: Record) -> Json:
        """The response as it was left. One that runs elsewhere is asked to stop; when that takes long, it is told as it is."""
        run, task = self._runs.get((owner, record.id)), self._tasks.get(record.id)
        if run is not None:
            if task is not None and not run.done:
                task.cancel()
                await asyncio.wait((task,))
            return run.encoder.result
        response = await self.now(owner, record)
        if response["status"] in RUNNING:
            await self.log_of(owner, record.id).ask_to_cancel()
        until = time.monotonic() + self._pace.patience
        while response["status"] in RUNNING and time.monotonic() < until:
            await asyncio.sleep(self._pace.gather)
            response = (await self._records.one(owner, record.id)).response
        return response

    async def forget(self, owner: str, record: Record) -> None:
        """End and delete a response."""
        if record.response["background"]:
            await self.cancel(owner, record)
            await self.log_of(owner, record.id).delete()
        await self._records.delete(owner, record.id)

    async def close(self) -> None:
        """Cancel everything."""
        tasks = dict(self._tasks)
        for run in list(self._runs.values()):
            if not run.done and (task := tasks.get(run.asked.shape.id)) is not None:
                task.cancel()
        if tasks:
            await asyncio.wait(tasks.values())

    async def _take(self, run: Run) -> None:
        """One response from its beginning to the last event in its log."""
        telling = asyncio.create_task(self._tell(run, asyncio.current_task()))
        try:
            await self._generate(run)
        except asyncio.CancelledError:
            await self._cancelled(run)
        except Exception as error:
            if run.accepted.done():
                run.add(run.encoder.failure(told(error)))
            else:
                run.accepted.set_exception(told(error))
        finally:
            run.end()
            await asyncio.wait((telling,))
            self._runs.pop((run.asked.owner, run.asked.shape.id), None)

    async def _generate(self, run: Run) -> None:
        asked, encoder = run.asked, run.encoder
        async with opened(self._pipeline, asked, encoder) as turns:
            run.warnings = tuple(turns.warnings)
            run.add(encoder.opening())
            await keep(self._records, asked, encoder)
            run.accepted.set_result(None)
            await write_out(Taking(turns, encoder, self._records, asked), encoder, run.add)
        run.add(encoder.last())

    async def _cancelled(self, run: Run) -> None:
        """What is over already stays as it is."""
        if run.encoder.result["status"] == "in_progress":
            run.encoder.cancel()
            await keep(self._records, run.asked, run.encoder)
        run.add(run.encoder.last())
        if not run.accepted.done():
            run.accepted.set_result(None)

    async def _tell(self, run: Run, task: "asyncio.Task[None] | None") -> None:
        """Write what the run says into its log, until all of it is there; and cancel it where another gateway was asked to."""
        events = self.log_of(run.asked.owner, run.asked.shape.id)
        place, beat, failures = 0, time.monotonic() + self._pace.beat, 0
        while (not run.done or place < len(run.frames)) and failures < MOST_FAILURES:
            frames = run.frames[place:]
            try:
                if frames or time.monotonic() >= beat:
                    await events.write(frames)
                    place, beat = place + len(frames), time.monotonic() + self._pace.beat
                if self._records.store.shared and task is not None and not run.done and await events.cancel_asked():
                    task.cancel()
            except StoreUnavailable as error:
                failures += run.done
                log.error("the events of response %s cannot be kept now: %s", run.asked.shape.id, error)
                await asyncio.sleep(self._pace.gather)
            await run.pause(self._pace.gather)
            await run.pause(self._pace.gather * 4, for_news=True)
