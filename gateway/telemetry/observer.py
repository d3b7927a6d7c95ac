"""Says at the end of each request, in one log line and in the metrics, what happened."""

import logging
import time
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

from .line import line_of, overhead
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
        if log.isEnabledFor(logging.INFO):
            # as `log.info` does, but for a walk through the stack to find this very line
            log.handle(
                log.makeRecord(log.name, logging.INFO, "", 0, "request", (), None, extra={"fields": line_of(record, elapsed)})
            )
        if self.spans is not None and record.span is not None:
            self.spans.end(record.span, record)

    def _measure(self, record: Record, elapsed: float) -> None:
        metrics, of, turn = self.metrics, self._of, (record.model, record.format)
        of(metrics.requests, record.model, str(record.status)).inc()
        self._measure_generation(record, elapsed)
        of(metrics.tokens, record.model, "prompt").inc(record.prompt_tokens)
        of(metrics.tokens, record.model, "completion").inc(record.completion_tokens)
        of(metrics.tokens, record.model, "cached").inc(record.cached_tokens)
        if record.attempted or record.refused:
            self._measure_calls(record)
        for kind, amount in record.notices.items():
            of(metrics.notices, *turn, kind).inc(amount)
        for step, amount in record.steps.items():
            of(metrics.checks, *turn, step).inc(amount)
        if record.restarts:
            of(metrics.replicas.retries, record.model, "restarted").inc(record.restarts)
        if record.instead_of:
            of(metrics.replicas.fallbacks, record.instead_of, record.model).inc()
        for guard in record.guards:
            of(metrics.guards, record.model, guard).inc()

    def _measure_calls(self, record: Record) -> None:
        metrics, of, turn = self.metrics, self._of, (record.model, record.format)
        if record.attempted:
            of(metrics.attempted, *turn).inc(record.attempted)
        if record.completed:
            of(metrics.completed, *turn).inc(record.completed)
        if record.truncated:
            of(metrics.truncated, *turn).inc(record.truncated)
        if record.refused:
            of(metrics.refused, *turn).inc(record.refused)
        if record.invalid:
            of(metrics.invalid, *turn).inc(record.invalid)

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
        if record.prompt_tokens:
            of(metrics.usage, *generation, "input").observe(record.prompt_tokens)
        if record.completion_tokens:
            of(metrics.usage, *generation, "output").observe(record.completion_tokens)


def _labelled(metric: Any, *labels: str) -> Any:
    return metric.labels(*labels)
