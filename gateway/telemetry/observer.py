"""Watches one request at a time: counts its events, and says at its end in one log line and in the metrics what happened."""

import logging
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from parsers import Event, Notice, ToolCallEnd, ToolCallStart

from .metrics import Metrics

log = logging.getLogger("gateway.requests")


@dataclass(slots=True)
class Record:
    """What is known of one generation request so far."""

    model: str = "unknown"
    key: str | None = None
    """The name of the API key."""
    format: str = ""
    backend: str = ""
    tool_choice: str = ""
    tools: int = 0
    constraint: str = ""
    status: int = 200
    error: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    attempted: int = 0
    completed: int = 0
    truncated: int = 0
    refused: int = 0
    notices: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    """What holding the turn to the request's demands came to: valid, repaired, retried, reported, failed, declined."""
    started: float = field(default_factory=time.perf_counter)
    first: float | None = None

    def count(self, events: Iterable[Event]) -> None:
        """Take note of what one choice's events tell."""
        if self.first is None:
            self.first = time.perf_counter()
        for event in events:
            kind = type(event)
            if kind is ToolCallStart:
                self.attempted += 1
            elif kind is ToolCallEnd:
                self._ended(event)
            elif kind is Notice:
                self.notices[event.kind] += 1  # type: ignore[union-attr]

    def failed(self, status: int, error: str) -> None:
        """The request came to no good end."""
        self.status, self.error = status, error

    def _ended(self, event: Any) -> None:
        if event.complete:
            self.completed += 1
        else:
            self.truncated += 1


class Observer:
    """Turns finished records into metrics and log lines."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics

    def begin(self, model: str) -> None:
        """A request for this model (its configured name) is running."""
        self.metrics.running.labels(model).inc()

    def end(self, record: Record, *, ran: bool) -> None:
        """A request is over. `ran`: `begin` was called for it."""
        if ran:
            self.metrics.running.labels(record.model).dec()
        elapsed = time.perf_counter() - record.started
        self._measure(record, elapsed)
        log.info("request", extra={"fields": self._summary(record, elapsed)})

    def _measure(self, record: Record, elapsed: float) -> None:
        metrics, turn = self.metrics, (record.model, record.format)
        metrics.requests.labels(record.model, str(record.status)).inc()
        metrics.duration.labels(record.model).observe(elapsed)
        if record.first is not None:
            metrics.first_event.labels(record.model).observe(record.first - record.started)
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
        for step, amount in record.steps.items():
            metrics.checks.labels(*turn, step).inc(amount)
        for kind in ("prompt", "completion", "cached"):
            metrics.tokens.labels(record.model, kind).inc(getattr(record, f"{kind}_tokens"))

    def _summary(self, record: Record, elapsed: float) -> dict[str, Any]:
        first = None if record.first is None else round((record.first - record.started) * 1000, 1)
        return {
            "model": record.model,
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
        }
