"""Everything that lives as long as the server: the models with their engines, the metrics, the pipeline."""

import asyncio
from types import TracebackType
from typing import Self

from gateway.errors import SettingsError
from gateway.pipeline import Pipeline
from gateway.pipeline.admission import Admission
from gateway.planning.catalog import Catalog
from gateway.settings import Settings
from gateway.store import open_keyring, open_limiter, open_store
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.observer import Observer
from gateway.telemetry.otlp_metrics import open_metrics_sender
from gateway.telemetry.tracing import open_tracing

from .assembly import Assembled
from .recordings import open_recorder, recordings_for
from .served import ServedModel
from .version import its_version


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
        self.catalog.fallbacks = {model.name: model.fallback for model in settings.models if model.fallback is not None}
        self._created = created
        self._served: list[ServedModel] = []
        self._watches: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._watches.append(asyncio.create_task(self.metrics.loop_lag.watch()))
        if self._sender is not None:
            self._watches.append(asyncio.create_task(self._sender.watch()))
        try:
            for model in self.settings.models:
                served = ServedModel(model, self.catalog, self.metrics, created=self._created)
                self._served.append(served)
                await served.begin()
        except SettingsError as error:
            await self.close()
            raise SettingsError(f"models: {model.name}: {error}") from error
        except BaseException:  # also when the start is cancelled: the engines that were opened must not be left behind
            await self.close()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    @property
    def assembled(self) -> list[Assembled]:
        """What is served now."""
        return [served.assembled for served in self._served if served.assembled is not None]

    async def close(self) -> None:
        """Stop waiting for engines, let go of those that were opened, and send what is left to be told."""
        for task in self._watches:
            task.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)
        await asyncio.gather(*(served.close() for served in self._served))
        await asyncio.gather(self.store.close(), self._admission.close())
        if self.keyring is not None:
            await self.keyring.close()
        last = [asyncio.to_thread(one.close) for one in (self.spans, self.recorder) if one is not None]
        await asyncio.gather(*last, *([self._sender.close()] if self._sender is not None else ()))
