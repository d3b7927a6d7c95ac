"""Says at the end of each request, in one log line and in the metrics, what happened."""

import logging
import time
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

from .metrics import Metrics
from .record import Record
from .tracing import engines

if TYPE_CHECKING:
    from .spans import Spans

log = logging.getLogger("gateway.requests")


class Observer:
    """Turns finished records into metrics, log lines and, where there is somebody who takes them, spans."""

    def __init__(self, metrics: Metrics, spans: "Spans | None" = None) -> None:
        self.metrics = metrics
        self.spans = spans
        self._of = cache(_labelled)
        """A metric with these labels. There are few, and each is needed for every request."""

    @property
    def tells_content(self) -> bool:
        """Whether spans hold what was said."""
        return self.spans is not None and self.spans.capture_content

    def executing(self, tool: str) -> AbstractContextManager[None]:
        """The time in which the gateway itself runs a tool."""
        return nullcontext() if self.spans is None else self.spans.executing(tool)

    def begin(self, record: Record) -> None:
        """The request is running; the record tells its model."""
        self._of(self.metrics.running, record.model).inc()
        engines.set(record.engines)
        if self.spans is not None:
            record.span, record.keeps = self.spans.begin(record), self.tells_content

    def moved(self, record: Record, model: str, form: str, backend: str) -> None:
        """Another model is asked to answer a request that is running."""
        self._of(self.metrics.running, record.model).dec()
        record.instead_of, record.model, record.format, record.backend = record.model, model, form, backend
        self._of(self.metrics.running, record.model).inc()

    def end(self, record: Record, *, ran: bool) -> None:
        """A request is over. `ran`: `begin` was called for it."""
        if ran:
            self._of(self.metrics.running, record.model).dec()
        elapsed = time.perf_counter() - record.started
        self._measure(record, elapsed)
        log.info("request", extra={"fields": self._summary(record, elapsed)})
        if self.spans is not None and record.span is not None:
            self.spans.end(record.span, record)

    def _measure(self, record: Record, elapsed: float) -> None:
        metrics, of, turn = self.metrics, self._of, (record.model, record.format)
        of(metrics.requests, record.model, str(record.status)).inc()
        self._measure_generation(record, elapsed)
        for counter, amount in (
            (metrics.attempted, record.attempted),
            (metrics.completed, record.completed),
            (metrics.truncated, record.truncated),
            (metrics.refused, record.refused),
            (metrics.invalid, record.invalid),
        ):
            if amount:
                of(counter, *turn).inc(amount)
        for kind, amount in record.notices.items():
            of(metrics.notices, *turn, kind).inc(amount)
        if record.restarts:
            of(metrics.replicas.retries, record.model, "restarted").inc(record.restarts)
        if record.instead_of:
            of(metrics.replicas.fallbacks, record.instead_of, record.model).inc()
        for guard in record.guards:
            of(metrics.guards, record.model, guard).inc()
        for step, amount in record.steps.items():
            of(metrics.checks, *turn, step).inc(amount)
        for kind in ("prompt", "completion", "cached"):
            of(metrics.tokens, record.model, kind).inc(getattr(record, f"{kind}_tokens"))

    def _measure_generation(self, record: Record, elapsed: float) -> None:
        metrics, of, generation = self.metrics, self._of, (record.operation, record.backend, record.model)
        of(metrics.duration, *generation, record.error or "").observe(elapsed)
        if record.first is not None and record.error is None:
            first = record.first - record.started
            of(metrics.first, *generation).observe(first)
            if record.completion_tokens > 1:
                of(metrics.each, *generation).observe((elapsed - first) / (record.completion_tokens - 1))
        if record.engine_wait and record.error is None:
            of(metrics.overhead, record.model).observe(overhead(record, elapsed))
        for kind, amount in (("input", record.prompt_tokens), ("output", record.completion_tokens)):
            if amount:
                of(metrics.usage, *generation, kind).observe(amount)

    def _summary(self, record: Record, elapsed: float) -> dict[str, Any]:
        first = None if record.first is None else round((record.first - record.started) * 1000, 1)
        return {
            "model": record.model,
            "instead_of": record.instead_of or None,
            "restarts": record.restarts or None,
            "key": record.key,
            "format": record.format or None,
            "backend": record.backend or None,
            "tool_choice": record.tool_choice or None,
            "tools": record.tools,
            "constraint": record.constraint or None,
            "status": record.status,
            "error": record.error,
            "prompt_tokens": record.prompt_tokens,
            "completion_tokens": record.completion_tokens,
            "first_event_ms": first,
            "ms": round(elapsed * 1000, 1),
            "overhead_ms": round(overhead(record, elapsed) * 1000, 1) if record.engine_wait else None,
            "engine": record.engines[-1] if record.engines else None,
            "calls": record.completed,
            "calls_truncated": record.truncated or None,
            "calls_refused": record.refused or None,
            "calls_schema_invalid": record.invalid or None,
            "notices": dict(record.notices) or None,
            "checks": dict(record.steps) or None,
            "guards": list(record.guards) or None,
        }


def _labelled(metric: Any, *labels: str) -> Any:
    return metric.labels(*labels)


def overhead(record: Record, elapsed: float) -> float:
    """Seconds of a request in which neither the engine nor the client was waited for."""
    return max(0.0, elapsed - record.engine_wait - record.client_wait)
