"""The spans of a request, after OpenTelemetry's conventions for HTTP servers and for generative AI.

Everything is written when a request begins and when it ends; a chunk costs nothing.
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from opentelemetry import context, propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from .logging import request_id, trace_id
from .otlp import clean
from .record import CLIENT_GONE, Called, Record
from .resource import resource_of
from .tracing import NOTHING, carried

QUIET = frozenset({"/health", "/v1/health", "/ready", "/metrics"})
"""Asked every few seconds by machines; their spans would hide all others."""
PATIENCE = 3.0
"""Seconds that the last spans get to leave; the SDK itself would wait for thirty."""
PORTS = {"http": 80, "https": 443}


def provider_for(url: str | None, version: str) -> TracerProvider:
    """Spans in batches to a collector, at this address or at the environment's."""
    provider = TracerProvider(resource=resource_of(version), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
    return provider


class Spans:
    """Tells one provider of requests and of the generations in them. `capture_content`: also what was said."""

    def __init__(self, provider: TracerProvider, *, capture_content: bool = False) -> None:
        self.capture_content = capture_content
        self._provider = provider
        self._tracer = provider.get_tracer("toolwire")

    @contextmanager
    def request(self, scope: Mapping[str, Any], route: str, status: Callable[[], int]) -> Iterator[None]:
        """The span of one HTTP request, within the client's trace. `status` is asked when the block is left.

        A WebSocket lives too long for one; what happens on it joins the client's trace all the same.
        """
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        parent = propagate.extract(headers)
        if route in QUIET or scope["type"] != "http":
            with _current(parent):
                yield
            return
        attributes = _of_request(scope, headers, route)
        span = self._tracer.start_span(f"{scope['method']} {route}", parent, SpanKind.SERVER, attributes)
        token = trace_id.set(trace.format_trace_id(span.get_span_context().trace_id))
        try:
            with _current(trace.set_span_in_context(span, parent)):
                yield
        finally:
            trace_id.reset(token)
            _answered(span, status())
            span.end()

    @contextmanager
    def executing(self, tool: str) -> Iterator[None]:
        """The span of a tool that the gateway itself runs. Those of clients run where nothing is known of their time."""
        name = clean(tool)
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": "extension"}
        with self._tracer.start_as_current_span(f"execute_tool {name}", kind=SpanKind.INTERNAL, attributes=attributes):
            yield

    def begin(self, record: Record) -> Span:
        """A generation's own span; the engine is told of it in `carried`."""
        asked = clean(record.asked)
        attributes = {
            "gen_ai.operation.name": record.operation,
            "gen_ai.provider.name": record.backend,
            "gen_ai.request.model": asked,
            "toolwire.format": record.format,
        }
        span = self._tracer.start_span(f"{record.operation} {asked}", kind=SpanKind.CLIENT, attributes=attributes)
        headers: dict[str, str] = {}
        propagate.inject(headers, trace.set_span_in_context(span))
        carried.set(headers)
        return span

    def end(self, span: Span, record: Record) -> None:
        """All that the record tells, and the end of its span."""
        carried.set(NOTHING)
        span.set_attributes(_of_record(record))
        for call in record.calls:
            span.add_event("toolwire.tool_call", _of_call(call, record), timestamp=call.at)
        if record.error is not None:
            span.set_attribute("error.type", record.error)
            if record.status != CLIENT_GONE:
                span.set_status(Status(StatusCode.ERROR, record.error))  # a message might quote what was said
        span.end()

    def close(self) -> None:
        """Send what is left, and stop. A collector that does not answer is given up after some seconds."""
        last = threading.Thread(target=self._provider.shutdown, daemon=True)
        last.start()
        last.join(PATIENCE)


@contextmanager
def _current(where: context.Context) -> Iterator[None]:
    token = context.attach(where)
    try:
        yield
    finally:
        context.detach(token)


def _of_request(scope: Mapping[str, Any], headers: Mapping[str, str], route: str) -> dict[str, Any]:
    host, port = scope.get("server") or (None, None)
    peer = (scope.get("client") or (None,))[0]
    known = {
        "http.request.method": scope["method"],
        "http.route": None if route == "other" else route,
        "url.path": clean(scope["path"]),
        "url.scheme": scope.get("scheme"),
        "server.address": host,
        "server.port": port,
        "client.address": peer,
        "user_agent.original": clean(headers["user-agent"]) if "user-agent" in headers else None,
        "network.protocol.version": scope.get("http_version"),
        "toolwire.request_id": request_id.get(),
    }
    return {key: value for key, value in known.items() if value is not None}


def _answered(span: Span, status: int) -> None:
    if status == CLIENT_GONE:
        span.set_attribute("error.type", "client_gone")
        return
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_attribute("error.type", str(status))
        span.set_status(Status(StatusCode.ERROR))


def _of_call(call: Called, record: Record) -> dict[str, str | int]:
    call_id = call.id if record.call_id is None else record.call_id(call.choice, call.place)
    own = {} if call_id is None else {"gen_ai.tool.call.id": clean(call_id)}
    return {"gen_ai.tool.name": clean(call.name), "gen_ai.tool.type": "function", "toolwire.tool_call.index": call.place, **own}


def _of_record(record: Record) -> dict[str, Any]:
    place = urlsplit(record.engines[-1]) if record.engines else None
    known = {
        "server.address": place.hostname if place else None,
        "server.port": place.port or PORTS.get(place.scheme) if place else None,
        "gen_ai.response.model": record.model,
        "gen_ai.response.id": record.response_id,
        "gen_ai.response.finish_reasons": record.finishes,
        "gen_ai.response.time_to_first_chunk": None if record.first is None else record.first - record.started,
        "gen_ai.usage.input_tokens": record.prompt_tokens,
        "gen_ai.usage.output_tokens": record.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": record.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": record.reasoning_tokens,
        "toolwire.tools": record.tools,
        "toolwire.tool_choice": record.tool_choice,
        "toolwire.constraint": record.constraint,
        "toolwire.guards": list(record.guards),
        "toolwire.tool_calls.names": [clean(call.name) for call in record.calls],
        "toolwire.tool_calls.completed": record.completed,
        "toolwire.tool_calls.truncated": record.truncated,
        "toolwire.tool_calls.refused": record.refused,
        "toolwire.tool_calls.schema_invalid": record.invalid,
        **{f"toolwire.notices.{kind}": count for kind, count in record.notices.items()},
        **{f"toolwire.checks.{step}": count for step, count in record.steps.items()},
    }
    return {key: value for key, value in known.items() if value}
