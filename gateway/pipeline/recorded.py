"""What every request leaves behind, however it ends: a record of what it cost and of how it failed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from gateway.errors import GatewayError
from gateway.middleware.caller import caller
from gateway.planning.catalog import Catalog, ModelSpec
from gateway.telemetry.observer import CLIENT_GONE, Observer, Record


@contextmanager
def recorded(model: str, catalog: Catalog, observer: Observer, *, operation: str = "chat") -> Iterator[tuple[Record, ModelSpec]]:
    """The model of this name, and the record of one request to it, which is told when the block is left."""
    record = Record(asked=model, operation=operation)
    if (asking := caller.get()) is not None:
        record.key = asking.key.name
    ran = False
    try:
        spec = catalog.find(model)
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
