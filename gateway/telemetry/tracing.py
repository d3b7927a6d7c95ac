"""Whether requests are traced, and what whoever works for one may know of it. OpenTelemetry is imported only when they are."""

import os
from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING

from .otlp import opened

if TYPE_CHECKING:
    from .spans import Spans

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
NOTHING: Mapping[str, str] = MappingProxyType({})

carried: ContextVar[Mapping[str, str]] = ContextVar("carried", default=NOTHING)
"""Headers by which the engine goes on with the trace; set for the time of one generation."""
engines: ContextVar[list[str] | None] = ContextVar("engines", default=None)
"""Where the addresses of the engines that are asked are noted down; set likewise."""


def open_tracing(endpoint: str | None = None, *, capture_content: bool = False, version: str = "") -> "Spans | None":
    """What tells traces, or None when nobody wants them. SettingsError: they are configured, but the extra is not installed."""
    capture = capture_content or os.environ.get(CAPTURE, "").lower() in ("true", "span_only", "span_and_event")

    def spans(url: str | None) -> "Spans":
        from .spans import Spans, provider_for

        return Spans(provider_for(url, version), capture_content=capture)

    return opened("traces", endpoint, spans)
