"""A model's replicas: made from its entry, and told of for people."""

from collections.abc import Iterable, Iterator

from gateway.backends.base import ReplicaState
from gateway.backends.http import Timeouts
from gateway.backends.pool import Agreement, PoolBackend
from gateway.backends.vllm import VllmBackend
from gateway.checking import Check
from gateway.settings import VllmModel
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.replicas import PoolMeter


def open_pool(model: VllmModel, metrics: Metrics, *, quiet: bool = False) -> PoolBackend:
    """The replicas, not yet asked anything. `quiet`: the model has another pool, until this one takes its place."""
    engines = [_engine(model, url) for url in model.urls]
    agreement = Agreement(model.engine_model, by_root=model.tokenizer is None, context=model.context)
    meter = PoolMeter(metrics.replicas, model.name, quiet=quiet)
    return PoolBackend(engines, model.pool, meter, agreement=agreement, holds=model.fallback is None)


def _engine(model: VllmModel, url: str) -> VllmBackend:
    timeouts = Timeouts(read=model.pool.silence)
    engine = VllmBackend(url=url, model=model.engine_model, api_key=model.api_key, timeouts=timeouts)
    engine.shares_prefixes = model.prefix_cache == "shared"
    return engine


def replica_checks(states: Iterable[ReplicaState]) -> Iterator[Check]:
    """What is right or wrong with each replica."""
    for state in states:
        if not state.ready:
            yield Check("E000", "warn", f"{state.place}: {state.state}.", "Start the engine, or correct urls and engine_model.")
        for found in state.findings:
            yield Check(found.id, found.status, f"{state.place}: {found.message}", found.remedy)
