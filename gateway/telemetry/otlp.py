"""Whether a kind of telemetry goes to an OpenTelemetry collector, and where that is. OpenTelemetry is not imported here.

The settings say so, or the standard variables: OTEL_EXPORTER_OTLP_ENDPOINT (or the signal's own) and OTEL_<SIGNAL>_EXPORTER=otlp
turn it on, OTEL_SDK_DISABLED=true or OTEL_<SIGNAL>_EXPORTER=none off. What else they may say (headers, sampler, batches) the SDK
reads by itself.
"""

import logging
import os
from collections.abc import Callable
from typing import Literal, TypeVar

from gateway.errors import SettingsError

Signal = Literal["traces", "metrics"]
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
INSTALL = "install toolwire[otel]"
HTTP = "http/protobuf"
LONGEST = 200
"""Characters of a value that a client may have made up."""
T = TypeVar("T")
log = logging.getLogger(__name__)


def opened(signal: Signal, endpoint: str | None, open_it: Callable[[str | None], T]) -> T | None:
    """What tells this signal, or None when nobody wants it. `open_it` gets the address, None: the SDK asks the environment.

    SettingsError: it is configured, but the extra is not installed.
    """
    if not _wanted(signal, endpoint):
        return None
    try:
        found = open_it(_url(signal, endpoint))
    except ImportError as error:
        if endpoint:
            raise SettingsError(f"telemetry.otlp_endpoint: {INSTALL}, which brings OpenTelemetry ({error})") from error
        log.warning("%s are not sent, although OTEL_* variables ask for it: %s", signal, INSTALL)
        return None
    for name in (PROTOCOL, _own(PROTOCOL, signal)):
        if os.environ.get(name, HTTP) != HTTP:
            log.warning("%s has no effect: %s leave as %s", name, signal, HTTP)
    return found


def _wanted(signal: Signal, endpoint: str | None) -> bool:
    named = os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "")
    exporters = [name.strip().lower() for name in named.split(",") if name.strip()]
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or "none" in exporters:
        return False
    return bool(endpoint) or "otlp" in exporters or any(os.environ.get(name) for name in (ENDPOINT, _own(ENDPOINT, signal)))


def _own(variable: str, signal: Signal) -> str:
    """The variable for this signal alone: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT."""
    return variable.replace("OTLP_", f"OTLP_{signal.upper()}_")


def _url(signal: Signal, endpoint: str | None) -> str | None:
    """Where it is posted; collectors take each signal on a path of its own."""
    if endpoint is None:
        return None
    return endpoint.rstrip("/").removesuffix("/v1/traces") + f"/v1/{signal}"


def clean(text: str) -> str:
    """Text that can be sent, and is no longer than it is worth."""
    return text[:LONGEST].encode("utf-8", "replace").decode()
