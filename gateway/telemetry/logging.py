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
    """`extra={"fields": ...}` of a record, a msgspec.Struct, becomes keys of its line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if name := request_id.get():
            line["request_id"] = name
        if trace := trace_id.get():
            line["trace_id"] = trace
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        fields: msgspec.Struct | None = getattr(record, "fields", None)
        return _json(line) if fields is None else f"{_json(line)[:-1]},{_json(fields)[1:]}"


_encode = msgspec.json.Encoder(enc_hook=str).encode
"""A fifth of what `json` takes, for one line a request."""


def _json(line: Any) -> str:
    try:
        return _encode(line).decode()
    except UnicodeEncodeError:  # half of a surrogate pair, out of somebody's text
        return json.dumps(msgspec.to_builtins(line, enc_hook=str))


def configure(level: str = "info", stream: TextIO | None = None) -> None:
    """Send the log lines of the gateway, of uvicorn and of OpenTelemetry to a stream (stderr) as JSON."""
    # Each record would be asked for what no line tells.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("gateway", "uvicorn", "opentelemetry"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    logging.getLogger("uvicorn.access").propagate = False
