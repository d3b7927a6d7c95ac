"""The numbers of engines that stand in a pool: which replicas are in, and what keeping requests alive takes."""

from prometheus_client import CollectorRegistry

from . import instruments
from .instruments import Instrument, Number

WAITED = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class ReplicaMetrics:
    """Those of all models. `replica` is an address as configured, `cause` a fixed word."""

    def __init__(self, registry: CollectorRegistry) -> None:
        one = ("model", "replica")

        def counter(name: str, text: str, *labels: str) -> Instrument[Number]:
            return instruments.counter(f"toolwire_{name}", text, labels, registry=registry)

        def gauge(name: str, text: str, *labels: str) -> Instrument[Number]:
            return instruments.gauge(f"toolwire_{name}", text, labels, registry=registry)

        self.up = gauge("replica_up", "Whether the replica gets requests", *one)
        self.running = gauge("replica_requests_running", "Requests at the replica now", *one)
        self.ejections = counter("replica_ejections", "Times the replica was put out", *one, "cause")
        self.retries = counter("retries", "Attempts at a request after its first", "model", "cause")
        self.waiting = gauge("queue_requests_waiting", "Requests that wait for a replica now", "model")
        self.refused = counter("queue_refused", "Requests that found no replica in time", "model", "cause")
        self.fallbacks = counter("fallbacks", "Requests that another model answered", "model", "fallback")
        self.changes = counter("model_changes", "Times all engines of a model served something else", "model", "outcome")
        self.waited = instruments.histogram(
            "toolwire_queue_seconds", "Wait for a replica", ("model",), WAITED, registry=registry
        )  # fmt: skip


class PoolMeter:
    """Those of one model's pool. `quiet`: which replicas are in is not told, because another pool of the model does."""

    def __init__(self, metrics: ReplicaMetrics, model: str, *, quiet: bool = False) -> None:
        self.model = model
        self.quiet = quiet
        self._metrics = metrics
        self.waiting = metrics.waiting.labels(model)
        self.waited = metrics.waited.labels(model)

    def running(self, replica: str) -> Number:
        """How many requests a replica has."""
        return self._metrics.running.labels(self.model, replica)

    def up(self, replica: str, value: int) -> None:
        """A replica gets requests (1) or none (0)."""
        if not self.quiet:
            self._metrics.up.labels(self.model, replica).value = value

    def ejected(self, replica: str, cause: str) -> None:
        """A replica was put out."""
        self._metrics.ejections.labels(self.model, replica, cause).inc()

    def retried(self, cause: str) -> None:
        """A request is tried again."""
        self._metrics.retries.labels(self.model, cause).inc()

    def refused(self, cause: str) -> None:
        """A request found no replica."""
        self._metrics.refused.labels(self.model, cause).inc()
