"""One entry of the configuration: its engine is waited for, served, and served anew when it changes its model."""

import asyncio
import logging
from collections.abc import Coroutine

from gateway.backends.base import Backend, Changes, Replicated
from gateway.errors import BackendError
from gateway.planning.catalog import Catalog
from gateway.settings import AnyModel, VllmModel
from gateway.telemetry.metrics import Metrics

from .assembly import Assembled, assemble, open_backend

FIRST_RETRY, LAST_RETRY = 1.0, 30.0
"""Seconds between two attempts at serving it, growing from the one to the other."""
log = logging.getLogger(__name__)


class ServedModel:
    """Begun, its entry is in the catalog, or expected there. Every change of that is made and logged here."""

    def __init__(self, model: AnyModel, catalog: Catalog, metrics: Metrics, *, created: int) -> None:
        self.model = model
        self.assembled: Assembled | None = None
        """What is served; None until the engine has answered."""
        self._catalog = catalog
        self._metrics = metrics
        self._created = created
        self._backends: list[Backend] = []
        """The engine in use, and behind it those whose last requests have not ended yet."""
        self._reason = ""
        """Why it cannot be served, as was last told."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """Serve it, or wait for its engine. SettingsError: the entry is wrong."""
        backend = await open_backend(self.model, self._metrics)
        self._backends.append(backend)
        try:
            self._serve(await assemble(self.model, backend, created=self._created))
        except BackendError as error:
            log.warning("model %s waits for its engine: %s", self.model.name, error)
            self._cannot(error)
        self._start(self._follow())

    async def close(self) -> None:
        """Stop following, and let go of the engine."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(backend.close() for backend in self._backends))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _serve(self, assembled: Assembled) -> None:
        self.assembled, self._reason = assembled, ""
        self._catalog.add(assembled.spec)

    def _cannot(self, error: Exception) -> None:
        self._reason = str(error)
        self._catalog.expect(self.model.name, self.model.aliases, reason=self._reason)

    @property
    def _waits(self) -> bool:
        return self.model.name in self._catalog.waiting

    async def _follow(self) -> None:
        """Try until it is served; then see whether its engines still serve the same."""
        interval = self.model.pool.health.interval if isinstance(self.model, VllmModel) else LAST_RETRY
        pause = FIRST_RETRY if self._waits else interval
        while self._waits or isinstance(self._backends[0], Changes):
            await asyncio.sleep(pause)
            changed = _has_changed(self._backends[0])
            if changed or self._waits:
                await (self._renew() if changed else self._try_again())
            failed = self._waits or _has_changed(self._backends[0])
            pause = min(pause * 1.5, LAST_RETRY) if failed else interval

    async def _try_again(self) -> None:
        """What is wrong with the entry then shows in `/ready` and in the log."""
        try:
            self._serve(await assemble(self.model, self._backends[0], created=self._created))
            log.info("model %s is served now", self.model.name)
        except Exception as error:  # whatever it is, it is told, and the next attempt may succeed
            if str(error) != self._reason:
                log.warning("model %s still waits: %s", self.model.name, error)
            self._cannot(error)

    async def _renew(self) -> None:
        """Serve what the engines serve now, with its own tokenizer, template and context; what runs goes on as it began."""
        old = self._backends[0]
        try:
            fresh = await open_backend(self.model, self._metrics, quiet=True)
            try:
                assembled = await assemble(self.model, fresh, created=self._created)
            except BaseException:  # also when the wait is cancelled: the engine that was opened must not be left behind
                await fresh.close()
                raise
        except Exception as error:  # as above
            self._metrics.replicas.changes.labels(self.model.name, "refused").inc()
            if str(error) != self._reason:
                log.warning("model %s: what its engines serve now cannot be served: %s", self.model.name, error)
            if not _usable(old):
                self._cannot(error)
            self._reason = str(error)
            return
        self._backends.insert(0, fresh)
        self._start(self._retired(old))
        if isinstance(fresh, Changes):
            fresh.announce()
        self._serve(assembled)
        self._metrics.replicas.changes.labels(self.model.name, "served").inc()
        spec = assembled.spec
        log.warning("model %s: its engines serve %s now, with a context of %s", spec.name, spec.engine_model, spec.context)

    async def _retired(self, backend: Backend) -> None:
        """Let go of an engine once its last request has ended."""
        if isinstance(backend, Changes):
            await backend.retire()
        await backend.close()
        self._backends.remove(backend)


def _has_changed(backend: Backend) -> bool:
    return isinstance(backend, Changes) and backend.changed()


def _usable(backend: Backend) -> bool:
    return isinstance(backend, Replicated) and any(replica.ready for replica in backend.replicas())
