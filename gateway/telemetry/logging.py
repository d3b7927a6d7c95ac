"""Log lines as JSON, one object each, with the id of the request they belong to."""

import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Set by the middleware for the time of one request."""
trace_id: ContextVar[str] = ContextVar("trace_id", default="")
"""Set likewise where requests are traced."""


class JsonFormatter(logging.Formatter):
    """`extra={"fields": {...}}` of a record becomes keys of its line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id.get() or None,
            "trace_id": trace_id.get() or None,
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _json({key: value for key, value in line.items() if value is not None})


_encode = msgspec.json.Encoder(enc_hook=str).encode
"""A fifth of what `json` takes, for one line a request."""


def _json(line: dict[str, Any]) -> str:
    try:
        return _encode(line).decode()
    except UnicodeEncodeError:  # half of a surrogate pair, out of somebody's text
        return json.dumps(line, default=str)


def configure(level: str = "info", stream: TextIO | None = None) -> None:
    """Send the log lines of the gateway, of uvicorn and of OpenTelemetry to a stream (stderr) as JSON."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("gateway", "uvicorn", "opentelemetry"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    logging.getLogger("uvicorn.access").propagate = False
