"""Watches one request at a time: counts its events, and says at its end in one log line and in the metrics what happened."""

import logging
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from parsers import Event, Finish, Notice, ToolCallEnd, ToolCallStart

from .metrics import Metrics

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from .spans import Spans

CLIENT_GONE = 499
"""The status of a request whose client did not wait for an answer."""
log = logging.getLogger("gateway.requests")


class Called(NamedTuple):
    """A call that a model began. `id`: the model's own, where its format has one. `at`: nanoseconds since 1970."""

    place: int
    name: str
    id: str | None
    at: int


@dataclass(slots=True)
class Record:
    """What is known of one generation request so far."""

    asked: str = ""
    """The model's name as the client wrote it."""
    operation: str = "chat"
    """chat, text_completion or embeddings."""
    model: str = "unknown"
    instead_of: str = ""
    """The model that was asked for, where another one answers."""
    key: str | None = None
    """The name of the API key."""
    format: str = ""
    backend: str = ""
    tool_choice: str = ""
    tools: int = 0
    constraint: str = ""
    guards: tuple[str, ...] = ()
    """The guards that changed or reported the conversation."""
    status: int = 200
    error: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    response_id: str = ""
    attempted: int = 0
    completed: int = 0
    truncated: int = 0
    refused: int = 0
    calls: list[Called] = field(default_factory=list)
    finishes: list[str] = field(default_factory=list)
    """How the choices ended."""
    notices: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    """What holding the turn to the request's demands came to: valid, repaired, retried, reported, failed, declined."""
    started: float = field(default_factory=time.perf_counter)
    first: float | None = None
    span: "Span | None" = None
    """Where the request is traced: what it is told as."""
    keeps: bool = False
    """Whether what the model says is kept, for the trace or for a recording."""

    def count(self, events: Iterable[Event]) -> None:
        """Take note of what one choice's events tell."""
        if self.first is None:
            self.first = time.perf_counter()
        for event in events:
            kind = type(event)
            if kind is ToolCallStart:
                self._began(event)
            elif kind is ToolCallEnd:
                self._ended(event)
            elif kind is Notice:
                self.notices[event.kind] += 1  # type: ignore[union-attr]
            elif kind is Finish:
                self.finishes.append(event.reason)  # type: ignore[union-attr]

    def failed(self, status: int, error: str) -> None:
        """The request came to no good end."""
        self.status, self.error = status, error

    def refuse(self, reason: str) -> None:
        """The answer breaks what the request demanded."""
        self.refused += 1
        log.warning("refused: %s", reason)

    def _began(self, event: Any) -> None:
        self.attempted += 1
        self.calls.append(Called(event.index, event.name, event.id, time.time_ns()))

    def _ended(self, event: Any) -> None:
        if event.complete:
            self.completed += 1
        else:
            self.truncated += 1


class Observer:
    """Turns finished records into metrics, log lines and, where there is somebody who takes them, spans."""

    def __init__(self, metrics: Metrics, spans: "Spans | None" = None) -> None:
        self.metrics = metrics
        self.spans = spans

    @property
    def tells_content(self) -> bool:
        """Whether spans hold what was said."""
        return self.spans is not None and self.spans.capture_content

    def begin(self, record: Record) -> None:
        """The request is running; the record tells its model."""
        self.metrics.running.labels(record.model).inc()
        if self.spans is not None:
            record.span, record.keeps = self.spans.begin(record), self.tells_content

    def moved(self, record: Record, model: str, form: str, backend: str) -> None:
        """Another model is asked to answer a request that is running."""
        self.metrics.running.labels(record.model).dec()
        record.instead_of, record.model, record.format, record.backend = record.model, model, form, backend
        self.metrics.running.labels(record.model).inc()

    def end(self, record: Record, *, ran: bool) -> None:
        """A request is over. `ran`: `begin` was called for it."""
        if ran:
            self.metrics.running.labels(record.model).dec()
        elapsed = time.perf_counter() - record.started
        self._measure(record, elapsed)
        log.info("request", extra={"fields": self._summary(record, elapsed)})
        if self.spans is not None and record.span is not None:
            self.spans.end(record.span, record)

    def _measure(self, record: Record, elapsed: float) -> None:
        metrics, turn = self.metrics, (record.model, record.format)
        metrics.requests.labels(record.model, str(record.status)).inc()
        self._measure_generation(record, elapsed)
        for counter, amount in (
            (metrics.attempted, record.attempted),
            (metrics.completed, record.completed),
            (metrics.truncated, record.truncated),
            (metrics.refused, record.refused),
        ):
            if amount:
                counter.labels(*turn).inc(amount)
        for kind, amount in record.notices.items():
            metrics.notices.labels(*turn, kind).inc(amount)
        if record.instead_of:
            metrics.replicas.fallbacks.labels(record.instead_of, record.model).inc()
        for guard in record.guards:
            metrics.guards.labels(record.model, guard).inc()
        for step, amount in record.steps.items():
            metrics.checks.labels(*turn, step).inc(amount)
        for kind in ("prompt", "completion", "cached"):
            metrics.tokens.labels(record.model, kind).inc(getattr(record, f"{kind}_tokens"))

    def _measure_generation(self, record: Record, elapsed: float) -> None:
        metrics, generation = self.metrics, (record.operation, record.backend, record.model)
        metrics.duration.labels(*generation, record.error or "").observe(elapsed)
        if record.first is not None and record.error is None:
            first = record.first - record.started
            metrics.first.labels(*generation).observe(first)
            if record.completion_tokens > 1:
                metrics.each.labels(*generation).observe((elapsed - first) / (record.completion_tokens - 1))
        for kind, amount in (("input", record.prompt_tokens), ("output", record.completion_tokens)):
            if amount:
                metrics.usage.labels(*generation, kind).observe(amount)

    def _summary(self, record: Record, elapsed: float) -> dict[str, Any]:
        first = None if record.first is None else round((record.first - record.started) * 1000, 1)
        return {
            "model": record.model,
            "instead_of": record.instead_of or None,
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
            "calls": record.completed,
            "calls_truncated": record.truncated or None,
            "calls_refused": record.refused or None,
            "notices": dict(record.notices) or None,
            "checks": dict(record.steps) or None,
            "guards": list(record.guards) or None,
        }
