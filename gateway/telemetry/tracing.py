"""Whether requests are traced, and where traces go. OpenTelemetry is imported only when they are.

The settings say so, or the standard variables: OTEL_EXPORTER_OTLP_ENDPOINT (or ..._TRACES_ENDPOINT) and OTEL_TRACES_EXPORTER=otlp
turn it on, OTEL_SDK_DISABLED=true or OTEL_TRACES_EXPORTER=none off. What else they may say (service name, headers, sampler,
batches) the SDK reads by itself.
"""

import logging
import os
from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING

from gateway.errors import SettingsError

if TYPE_CHECKING:
    from .spans import Spans

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
INSTALL = "install toolwire[otel]"
NOTHING: Mapping[str, str] = MappingProxyType({})
log = logging.getLogger(__name__)

carried: ContextVar[Mapping[str, str]] = ContextVar("carried", default=NOTHING)
"""Headers by which the engine goes on with the trace; set for the time of one generation."""
engines: ContextVar[list[str] | None] = ContextVar("engines", default=None)
"""Where the addresses of the engines that are asked are noted down; set likewise."""


def open_tracing(endpoint: str | None = None, *, capture_content: bool = False, version: str = "") -> "Spans | None":
    """What tells traces, or None when nobody wants them. SettingsError: they are configured, but the extra is not installed."""
    if not _wanted(endpoint):
        return None
    try:
        from .spans import Spans, provider_for
    except ImportError as error:
        if endpoint:
            raise SettingsError(f"telemetry.otlp_endpoint: {INSTALL}, which brings OpenTelemetry ({error})") from error
        log.warning("requests are not traced, although OTEL_* variables ask for it: %s", INSTALL)
        return None
    for name in PROTOCOLS:
        if os.environ.get(name, "http/protobuf") != "http/protobuf":
            log.warning("%s has no effect: traces leave as http/protobuf", name)
    capture = capture_content or os.environ.get(CAPTURE, "").lower() in ("true", "span_only", "span_and_event")
    return Spans(provider_for(traces_url(endpoint), version), capture_content=capture)


def _wanted(endpoint: str | None) -> bool:
    exporters = [name.strip().lower() for name in os.environ.get("OTEL_TRACES_EXPORTER", "").split(",") if name.strip()]
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or "none" in exporters:
        return False
    return bool(endpoint) or "otlp" in exporters or any(os.environ.get(name) for name in ENDPOINTS)


def traces_url(endpoint: str | None) -> str | None:
    """Where spans are posted; collectors take each kind of telemetry on a path of its own. None: the SDK asks the environment."""
    if endpoint is None or endpoint.endswith("/v1/traces"):
        return endpoint
    return endpoint.rstrip("/") + "/v1/traces"
