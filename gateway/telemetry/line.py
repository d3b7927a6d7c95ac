"""What the log tells of one request."""

from collections.abc import Mapping, Sequence

import msgspec

from .record import Record


class Line(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The keys of its line. Those are left out that have nothing to say; all times are milliseconds."""

    model: str
    instead_of: str = ""
    restarts: int = 0
    key: str | None = None
    format: str = ""
    backend: str = ""
    tool_choice: str = ""
    tools: int
    constraint: str = ""
    status: int
    error: str | None = None
    prompt_tokens: int
    completion_tokens: int
    first_event_ms: float | None = None
    ms: float
    overhead_ms: float | None = None
    engine: str | None = None
    calls: int
    calls_truncated: int = 0
    calls_refused: int = 0
    calls_schema_invalid: int = 0
    notices: Mapping[str, int] | None = None
    checks: Mapping[str, int] | None = None
    guards: Sequence[str] = ()


def line_of(record: Record, elapsed: float) -> Line:
    """What is told of a request that took so many seconds."""
    return Line(
        model=record.model,
        instead_of=record.instead_of,
        restarts=record.restarts,
        key=record.key,
        format=record.format,
        backend=record.backend,
        tool_choice=record.tool_choice,
        tools=record.tools,
        constraint=record.constraint,
        status=record.status,
        error=record.error,
        prompt_tokens=record.prompt_tokens,
        completion_tokens=record.completion_tokens,
        first_event_ms=None if record.first is None else round((record.first - record.started) * 1000, 1),
        ms=round(elapsed * 1000, 1),
        overhead_ms=round(overhead(record, elapsed) * 1000, 1) if record.engine_wait else None,
        engine=record.engines[-1] if record.engines else None,
        calls=record.completed,
        calls_truncated=record.truncated,
        calls_refused=record.refused,
        calls_schema_invalid=record.invalid,
        notices=dict(record.notices) if record.notices else None,
        checks=dict(record.steps) if record.steps else None,
        guards=record.guards,
    )


def overhead(record: Record, elapsed: float) -> float:
    """Seconds of a request in which neither the engine nor the client was waited for."""
    return max(0.0, elapsed - record.engine_wait - record.client_wait)
