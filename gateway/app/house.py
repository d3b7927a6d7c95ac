"""Everything that lives as long as the server: the models with their engines, the metrics, the pipeline."""

import asyncio
import logging
from types import TracebackType
from typing import Self

from gateway.backends.base import Backend
from gateway.errors import BackendError, SettingsError
from gateway.pipeline import Pipeline
from gateway.pipeline.admission import Admission
from gateway.planning.catalog import Catalog
from gateway.settings import AnyModel, Settings
from gateway.store import open_keyring, open_limiter, open_store
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.observer import Observer
from gateway.telemetry.otlp_metrics import open_metrics_sender
from gateway.telemetry.tracing import open_tracing

from .assembly import Assembled, assemble, open_backend
from .recordings import open_recorder, recordings_for
from .version import its_version

FIRST_RETRY, LAST_RETRY = 1.0, 30.0
"""Seconds between two attempts to reach an engine, growing from the one to the other."""
log = logging.getLogger(__name__)


class House:
    """Entered, it serves the configured models; left, their engines are closed.

    Entering raises SettingsError when an entry is wrong. An engine that is not up yet is no such error: its model is waited for.
    """

    def __init__(self, settings: Settings, *, created: int = 0) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.catalog = Catalog()
        self.store = open_store(settings.store)
        self.keyring = open_keyring(settings.auth, settings.store)
        limiter = open_limiter(settings.store)
        auth = settings.auth
        self._admission = Admission(limiter, self.metrics, on_failure=auth.on_store_failure, assumed_answer=auth.assumed_answer)
        told = settings.telemetry
        self.spans = open_tracing(told.otlp_endpoint, capture_content=told.capture_content, version=its_version())
        self._sender = open_metrics_sender(told.otlp_endpoint, self.metrics.registry, its_version())
        self.recorder = open_recorder(settings, self.metrics)
        recordings = recordings_for(settings, self.recorder) if self.recorder else None
        self.pipeline = Pipeline(self.catalog, Observer(self.metrics, self.spans), self._admission, recordings)
        self.assembled: list[Assembled] = []
        self.catalog.fallbacks = {model.name: model.fallback for model in settings.models if model.fallback is not None}
        self._created = created
        self._backends: list[Backend] = []
        self._waiting: list[asyncio.Task[None]] = []
        self._watches: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._watches.append(asyncio.create_task(self.metrics.loop_lag.watch()))
        if self._sender is not None:
            self._watches.append(asyncio.create_task(self._sender.watch()))
        try:
            for model in self.settings.models:
                await self._serve(model)
        except SettingsError as error:
            await self.close()
            raise SettingsError(f"models: {model.name}: {error}") from error
        except BaseException:  # also when the start is cancelled: the engines that were opened must not be left behind
            await self.close()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop waiting for engines, let go of those that were opened, and send what is left to be told."""
        tasks = [*self._waiting, *self._watches]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(backend.close() for backend in self._backends))
        await asyncio.gather(self.store.close(), self._admission.close())
        if self.keyring is not None:
            await self.keyring.close()
        self._backends.clear()
        last = [asyncio.to_thread(one.close) for one in (self.spans, self.recorder) if one is not None]
        await asyncio.gather(*last, *([self._sender.close()] if self._sender is not None else ()))

    async def _serve(self, model: AnyModel) -> None:
        backend = await open_backend(model, self.metrics)
        self._backends.append(backend)
        try:
            await self._assemble(model, backend)
        except BackendError as error:
            log.warning("model %s waits for its engine: %s", model.name, error)
            self.catalog.expect(model.name, model.aliases, reason=str(error))
            self._waiting.append(asyncio.create_task(self._wait_for(model, backend)))

    async def _assemble(self, model: AnyModel, backend: Backend) -> None:
        assembled = await assemble(model, backend, created=self._created)
        self.assembled.append(assembled)
        self.catalog.add(assembled.spec)

    async def _wait_for(self, model: AnyModel, backend: Backend) -> None:
        """Try again until the engine answers. What is wrong with the entry then shows in `/ready` and in the log."""
        reason, pause = "", FIRST_RETRY
        while model.name in self.catalog.waiting:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LAST_RETRY)
            try:
                await self._assemble(model, backend)
                log.info("model %s is served now", model.name)
            except Exception as error:  # whatever it is, it is told, and the next attempt may succeed
                if str(error) != reason:
                    log.warning("model %s still waits: %s", model.name, error)
                reason = str(error)
                self.catalog.expect(model.name, model.aliases, reason=reason)
