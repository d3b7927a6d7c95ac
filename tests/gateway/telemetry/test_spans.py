"""What a trace tells of a generation, read from the SDK's own exporter in memory."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from gateway.backends.http import EngineHttp
from gateway.chat.request import Sampling
from gateway.errors import GatewayError
from gateway.middleware.asgi import Receive, Scope, Send
from gateway.middleware.request_context import RequestContext
from gateway.pipeline import Pipeline
from gateway.planning.catalog import Catalog
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.observer import Observer
from gateway.telemetry.spans import Spans
from tests.support.planned import TIME, WEATHER, asked, hermes_call, scripted
from tests.support.walk import reads_of

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"


class Traced:
    """One scripted model whose spans are kept."""

    def __init__(self, folder: Path, turns: Any, *, capture_content: bool = False, **spec: Any) -> None:
        self.kept = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.kept))
        self.spans = Spans(provider, capture_content=capture_content)
        self.pipeline = Pipeline(Catalog([scripted(folder, turns, **spec)]), Observer(Metrics(), self.spans))

    def take(self, *words: str, **fields: Any) -> ReadableSpan:
        """The span of one request, read to its end (or to its failure)."""
        messages = fields.pop("messages", None)

        async def walk() -> None:
            request = replace(asked(*words, **fields), messages=messages) if messages else asked(*words, **fields)
            async with self.pipeline.open(request) as turn:
                turn.answered_as("chatcmpl-1")
                await reads_of(turn)

        with suppress(GatewayError):
            asyncio.run(walk())
        return self.kept.get_finished_spans()[-1]


def of(span: ReadableSpan) -> Mapping[str, Any]:
    assert span.attributes is not None
    return span.attributes


def test_a_generation_is_told_in_the_conventions_words(tmp_path: Path) -> None:
    traced = Traced(tmp_path, "Let me look.\n" + hermes_call() + "\n" + hermes_call("get_time", {"zone": "UTC"}))
    span = traced.take(tools=(WEATHER, TIME), sampling=Sampling(max_tokens=99, temperature=0.5, seed=7))
    assert (span.name, span.kind, span.status.status_code) == ("chat scripted", SpanKind.CLIENT, StatusCode.UNSET)
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "replay",
        "gen_ai.request.model": "scripted",
        "gen_ai.response.model": "scripted",
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.request.max_tokens": 99,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.seed": 7,
        "gen_ai.output.type": "text",
        "toolwire.format": "hermes",
        "toolwire.tool_calls.names": ("get_weather", "get_time"),
        "toolwire.tool_calls.completed": 2,
    }
    assert expected.items() <= of(span).items()
    assert of(span)["gen_ai.usage.input_tokens"] > 0
    assert of(span)["gen_ai.usage.output_tokens"] > 0
    assert of(span)["gen_ai.response.time_to_first_chunk"] >= 0


def test_calls_are_events_with_their_times(tmp_path: Path) -> None:
    pieces = [hermes_call(), "\n", hermes_call("get_time", {"zone": "UTC"})]
    traced = Traced(tmp_path, [{"match": None, "pieces": pieces, "delay_ms": 30}])
    span = traced.take(tools=(WEATHER, TIME))
    first, second = span.events
    assert (first.name, second.name) == ("toolwire.tool_call", "toolwire.tool_call")
    assert first.attributes == {"gen_ai.tool.name": "get_weather", "gen_ai.tool.type": "function", "toolwire.tool_call.index": 0}
    assert second.attributes is not None
    assert second.attributes["gen_ai.tool.name"] == "get_time"
    assert span.start_time is not None
    assert span.start_time < first.timestamp < second.timestamp


@pytest.mark.parametrize("capture", [False, True])
def test_what_was_said_is_told_only_when_wanted(tmp_path: Path, capture: bool) -> None:
    traced = Traced(tmp_path, "In Atlantis.\n" + hermes_call(arguments={"city": "Atlantis"}), capture_content=capture)
    span = traced.take("a secret question", tools=(WEATHER,))
    told = span.to_json()
    assert [word in told for word in ("secret", "Atlantis", "Tells the weather")] == [capture] * 3
    if not capture:
        return
    assert json.loads(of(span)["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "a secret question"}]}
    ]
    (answer,) = json.loads(of(span)["gen_ai.output.messages"])
    text, call = answer.pop("parts")
    assert answer == {"role": "assistant", "finish_reason": "tool_calls"}
    assert text == {"type": "text", "content": "In Atlantis."}
    assert (call["type"], call["name"], json.loads(call["arguments"])) == ("tool_call", "get_weather", {"city": "Atlantis"})
    assert json.loads(of(span)["gen_ai.tool.definitions"])[0]["parameters"]["required"] == ["city"]


def test_a_failure_is_told_by_its_code_alone(tmp_path: Path) -> None:
    traced = Traced(tmp_path, hermes_call(arguments={"city": "Atlantis", "unit": "Kelvin"}))
    span = traced.take(tools=(WEATHER,), choice="required")
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "tool_call_invalid")
    assert of(span)["error.type"] == "tool_call_invalid"
    assert of(span)["toolwire.tool_calls.refused"] == 1
    assert "Kelvin" not in span.to_json()


def test_a_second_attempt_finishes_once(tmp_path: Path) -> None:
    right = {"match": "breaks the tool's schema", "role": "tool", "text": hermes_call()}
    wrong = {"match": None, "text": hermes_call(arguments={"city": ["Paris"]})}
    span = Traced(tmp_path, [right, wrong], strict="retry").take("weather?", tools=(WEATHER,), choice="required")
    assert of(span)["toolwire.checks.retried"] == 1
    assert of(span)["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert of(span)["toolwire.tool_calls.names"] == ("get_weather", "get_weather")


def test_a_client_that_leaves_is_no_error(tmp_path: Path) -> None:
    traced = Traced(tmp_path, [{"match": None, "pieces": ["a"] * 100, "delay_ms": 50}])

    async def leave() -> None:
        async def walk() -> None:
            async with traced.pipeline.open(asked()) as turn:
                await turn.run(lambda _: began.set())

        began = asyncio.Event()
        task = asyncio.create_task(walk())
        await began.wait()
        task.cancel()
        await asyncio.wait((task,))

    asyncio.run(leave())
    (span,) = traced.kept.get_finished_spans()
    assert of(span)["error.type"] == "client_gone"
    assert span.status.status_code is StatusCode.UNSET


@pytest.mark.parametrize(
    ("traceparent", "continued"), [(TRACEPARENT, True), ("00-nonsense-01", False), ("00-" + "0" * 32 + f"-{PARENT}-01", False)]
)
def test_the_engine_goes_on_with_the_clients_trace(tmp_path: Path, traceparent: str, continued: bool) -> None:
    """Through the middleware, a generation and a real connection to something that tells which headers it got."""
    traced = Traced(tmp_path, "Hello!")
    heard: list[dict[str, str]] = []

    async def engine(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        heard.append(dict(line.lower().split(": ", 1) for line in head[1:] if line))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async def ask(port: int) -> None:
        http = EngineHttp(f"http://127.0.0.1:{port}")
        async with http.stream("/v1/completions", b"{}") as blocks:
            assert [block async for block in blocks]
        await http.json("POST", "/tokenize", {})
        await http.close()

    async def walk() -> None:
        server = await asyncio.start_server(engine, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            async with traced.pipeline.open(asked()) as turn:
                await ask(port)
                await reads_of(turn)
            await ask(port)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"ok"})

        wrapped = RequestContext(app, metrics=Metrics(), route_of=lambda path: path, spans=traced.spans)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(wrapped), base_url="http://gateway") as client:
            headers = {"traceparent": traceparent, "tracestate": "vendor=1"}
            assert (await client.post("/v1/chat/completions", headers=headers)).text == "ok"
        server.close()

    asyncio.run(walk())
    chat, request = traced.kept.get_finished_spans()
    assert request.name == "POST /v1/chat/completions"
    assert request.kind is SpanKind.SERVER
    assert of(request)["http.response.status_code"] == 200
    trace, server_span, chat_span = (request.context.trace_id, request.context.span_id, chat.context.span_id)
    assert (f"{trace:032x}" == TRACE) is continued
    assert (request.parent is not None) is continued
    assert chat.parent is not None
    assert (chat.context.trace_id, chat.parent.span_id) == (trace, server_span)
    streamed, asked_shortly, *after = heard
    assert streamed["traceparent"] == asked_shortly["traceparent"]
    assert streamed["traceparent"].startswith(f"00-{trace:032x}-{chat_span:016x}-")
    assert streamed.get("tracestate") == ("vendor=1" if continued else None)
    assert of(chat)["server.address"] == "127.0.0.1"
    assert f"127.0.0.1:{of(chat)['server.port']}" == streamed["host"]
    assert len(after) == 2
    assert not any("traceparent" in headers for headers in after), "the generation is over"


def test_results_that_a_request_brings_are_events(tmp_path: Path) -> None:
    traced = Traced(tmp_path, "It rains.")

    def call(number: int, name: str) -> dict[str, Any]:
        return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}

    messages = (
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call(0, "get_time")]},
        {"role": "tool", "tool_call_id": "call_0", "content": "an earlier one"},
        {"role": "assistant", "content": None, "tool_calls": [call(1, "get_weather"), call(2, "get_time")]},
        {"role": "tool", "tool_call_id": "call_1", "content": "secret rain"},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "noon"}]},
    )
    span = traced.take(tools=(WEATHER, TIME), messages=messages)
    assert [event.name for event in span.events] == ["toolwire.tool_result"] * 2
    assert [dict(event.attributes or {}) for event in span.events] == [
        {"gen_ai.tool.call.id": "call_1", "gen_ai.tool.name": "get_weather", "toolwire.tool_result.characters": 11},
        {"gen_ai.tool.call.id": "call_2", "gen_ai.tool.name": "get_time", "toolwire.tool_result.characters": 4},
    ]
    assert "secret" not in span.to_json()
