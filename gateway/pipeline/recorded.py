"""What every request leaves behind, however it ends: a record of what it cost and of how it failed."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

from gateway.errors import GatewayError
from gateway.middleware.caller import caller
from gateway.planning.catalog import Catalog, ModelSpec
from gateway.telemetry.observer import Observer
from gateway.telemetry.record import CLIENT_GONE, Record

Fits = Callable[[ModelSpec], bool]
"""Whether a model can do what a request demands."""


class Recorded(AbstractContextManager[tuple[Record, ModelSpec]]):
    """The model of this name, and the record of one request to it, which is told when the block is left. `by`: whether its
    fallback will do while it cannot be served."""

    def __init__(
        self, model: str, catalog: Catalog, observer: Observer, *, operation: str = "chat", by: Fits | None = None
    ) -> None:
        self._model = model
        self._catalog = catalog
        self._observer = observer
        self._by = by
        self._record = Record(asked=model, operation=operation)

    def __enter__(self) -> tuple[Record, ModelSpec]:
        record, catalog = self._record, self._catalog
        record.model = catalog.owner(self._model) or record.model  # also of a configured model that cannot be served now
        if (asking := caller.get()) is not None:
            record.key = asking.key.name
        try:
            spec = _found(self._model, catalog, record, self._by)
            record.model, record.format = spec.name, spec.format.name
            record.backend = spec.backend.name
            self._observer.begin(record)
        except BaseException as error:  # whatever ends it, cancellation too, the record must tell of it
            self._end(error, ran=False)
            raise
        return record, spec

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end(error, ran=True)

    def _end(self, error: BaseException | None, *, ran: bool) -> None:
        record = self._record
        if error is None:
            pass
        elif isinstance(error, GatewayError):
            record.failed(error.status, error.code or error.type)
        elif isinstance(error, (asyncio.CancelledError, GeneratorExit)):
            record.failed(CLIENT_GONE, "client_gone")
        elif isinstance(error, Exception):  # a fault of ours: the record says so, and the fault goes on
            record.failed(500, "server_error")
        self._observer.end(record, ran=ran)


def _found(model: str, catalog: Catalog, record: Record, by: Fits | None) -> ModelSpec:
    if by is None:
        return catalog.find(model)
    spec, owner = catalog.answering(model), catalog.owner(model)
    if spec.name != owner:
        if not by(spec):
            return catalog.find(model)
        record.instead_of = owner or model
    return spec
