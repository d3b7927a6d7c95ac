"""What every request leaves behind, however it ends: a record of what it cost and of how it failed."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gateway.errors import GatewayError
from gateway.middleware.caller import caller
from gateway.planning.catalog import Catalog, ModelSpec
from gateway.telemetry.observer import Observer
from gateway.telemetry.record import CLIENT_GONE, Record

Fits = Callable[[ModelSpec], bool]
"""Whether a model can do what a request demands."""


@contextmanager
def recorded(
    model: str, catalog: Catalog, observer: Observer, *, operation: str = "chat", by: Fits | None = None
) -> Iterator[tuple[Record, ModelSpec]]:
    """The model of this name, and the record of one request to it, which is told when the block is left. `by`: whether its
    fallback will do while it cannot be served."""
    record = Record(asked=model, operation=operation)
    record.model = catalog.owner(model) or record.model  # also of a configured model that cannot be served now
    if (asking := caller.get()) is not None:
        record.key = asking.key.name
    ran = False
    try:
        spec = _found(model, catalog, record, by)
        record.model, record.format = spec.name, spec.format.name
        record.backend = spec.backend.name
        observer.begin(record)
        ran = True
        yield record, spec
    except GatewayError as error:
        record.failed(error.status, error.code or error.type)
        raise
    except (asyncio.CancelledError, GeneratorExit):
        record.failed(CLIENT_GONE, "client_gone")
        raise
    except Exception:  # a fault of ours: the record says so, and the fault goes on
        record.failed(500, "server_error")
        raise
    finally:
        observer.end(record, ran=ran)


def _found(model: str, catalog: Catalog, record: Record, by: Fits | None) -> ModelSpec:
    if by is None:
        return catalog.find(model)
    spec, owner = catalog.answering(model), catalog.owner(model)
    if spec.name != owner:
        if not by(spec):
            return catalog.find(model)
        record.instead_of = owner or model
    return spec
