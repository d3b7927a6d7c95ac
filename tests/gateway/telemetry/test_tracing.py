"""A real gateway that tells its traces to a collector, and one that tells nobody."""

import gzip
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gateway.telemetry.metrics import Metrics
from gateway.telemetry.otlp_metrics import open_metrics_sender
from gateway.telemetry.tracing import open_tracing
from tests.support.planned import hermes_call
from tests.support.server import CLIENT, replay_model, serving, wait_for

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TURNS = [{"match": "call", "text": hermes_call()}, {"match": None, "text": "Hello!"}]
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
GENERATION = {"gen_ai_operation_name": "chat", "gen_ai_provider_name": "replay", "gen_ai_request_model": "scripted"}
ROOT = Path(__file__).parents[3]


class Collector:
    """Takes OTLP over HTTP, as a collector does."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.bodies: list[bytes] = []
        taken = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                taken.paths.append(self.path)
                taken.bodies.append(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def spans(self) -> dict[str, Any]:
        """All spans by name, and the resource that they share under `resource`."""
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        found: dict[str, Any] = {}
        for path, body in zip(self.paths, self.bodies, strict=True):
            for group in ExportTraceServiceRequest.FromString(body).resource_spans if path == "/v1/traces" else ():
                found["resource"] = _values(group.resource.attributes)
                found |= {span.name: span for scope in group.scope_spans for span in scope.spans}
        return found

    def metrics(self) -> dict[str, Any]:
        """The metrics of the last report by name, and the resource under `resource`."""
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

        reports = [body for path, body in zip(self.paths, self.bodies, strict=True) if path == "/v1/metrics"]
        (group,) = ExportMetricsServiceRequest.FromString(reports[-1]).resource_metrics
        named = {metric.name: metric for scope in group.scope_metrics for metric in scope.metrics}
        return {"resource": _values(group.resource.attributes), **named}


def _values(attributes: Any) -> dict[str, Any]:
    return {item.key: getattr(item.value, item.value.WhichOneof("value")) for item in attributes}


@pytest.fixture
def collector() -> Iterator[Collector]:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    running = Collector()
    thread = threading.Thread(target=running.server.serve_forever, daemon=True)
    thread.start()
    yield running
    running.server.shutdown()
    running.server.server_close()
    thread.join()


@contextmanager
def environment(**values: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for key, value in values.items():
            patch.setenv(key, value)
        yield


def test_a_streamed_request_reaches_the_collector(
    tmp_path: Path, collector: Collector, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = {"models": [replay_model(tmp_path, TURNS)], "telemetry": {"otlp_endpoint": collector.url}}
    with serving(settings) as gateway:
        body = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": "call"}], "tools": [TOOL]}
        headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "x-request-id": "mine-7"}
        answer = gateway.post(body, headers=headers)
        gateway.post({"model": "unknown", "messages": [{"role": "user", "content": "x"}]}, headers=headers)
        assert CLIENT.get(f"{gateway.url}/health").status_code == 200
    first = json.loads(answer.text.split("\n\n")[0].removeprefix("data: "))
    assert set(collector.paths) == {"/v1/traces", "/v1/metrics"}
    spans = collector.spans()
    assert spans.pop("resource")["service.name"] == "toolwire"
    assert set(spans) == {"POST /v1/chat/completions", "chat scripted"}, "health is asked too often to be told"
    chat, request = spans["chat scripted"], spans["POST /v1/chat/completions"]
    assert (chat.trace_id.hex(), request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, TRACE, PARENT)
    assert _values(request.attributes)["http.response.status_code"] == 404, "the second request was the last one"
    told = _values(chat.attributes)
    assert told["gen_ai.response.id"] == first["id"]
    assert told["gen_ai.usage.output_tokens"] > 0
    (event,) = chat.events
    called = _values(event.attributes)
    assert called["gen_ai.tool.name"] == "get_weather"
    assert f'"id":"{called["gen_ai.tool.call.id"]}"' in answer.text
    assert b"Paris" not in b"".join(collector.bodies)


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/messages"])
def test_other_protocols_tell_their_ids_too(tmp_path: Path, collector: Collector, path: str) -> None:
    settings = {"models": [replay_model(tmp_path, TURNS)], "telemetry": {"otlp_endpoint": collector.url, "capture_content": True}}
    with serving(settings) as gateway:
        asked = {"input": "hi"} if path == "/v1/responses" else {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}
        answer = CLIENT.post(gateway.url + path, json={"model": "scripted", **asked}).json()
    spans = collector.spans()
    told = _values(spans["chat scripted"].attributes)
    assert told["gen_ai.response.id"] == answer["id"]
    assert "Hello!" in told["gen_ai.output.messages"]
    assert spans["chat scripted"].parent_span_id == spans[f"POST {path}"].span_id


def test_a_search_by_the_gateway_is_the_one_tool_that_it_executes(tmp_path: Path, collector: Collector) -> None:
    pytest.importorskip("bm25s")
    turns = [
        {"match": "No tool", "role": "tool", "text": "None."},
        {"match": None, "text": hermes_call("tool_search", {"query": "x"})},
    ]
    settings = {"models": [replay_model(tmp_path, turns)], "telemetry": {"otlp_endpoint": collector.url}}
    with serving(settings) as gateway:
        tools = [{"type": "tool_search"}, {"type": "function", "name": "mail", "defer_loading": True}]
        body = {"model": "scripted", "input": "hi", "tools": tools}
        assert CLIENT.post(f"{gateway.base_url}/responses", json=body).json()["status"] == "completed"
    spans = collector.spans()
    assert set(spans) - {"resource"} == {"POST /v1/responses", "chat scripted", "execute_tool tool_search"}
    run = spans["execute_tool tool_search"]
    assert run.parent_span_id == spans["POST /v1/responses"].span_id
    assert _values(run.attributes)["gen_ai.operation.name"] == "execute_tool"


def test_the_environment_turns_tracing_on(tmp_path: Path, collector: Collector) -> None:
    """And nothing else: the framework would tell its own, given the chance."""
    wanted = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "FASTAPI_OTEL_AUTO_CONFIGURE": "true", "OTEL_SERVICE_NAME": "mine"}
    with environment(**wanted), serving({"models": [replay_model(tmp_path, TURNS)]}) as gateway:
        gateway.post({"model": "scripted", "messages": [{"role": "user", "content": "hi"}]})
    spans = collector.spans()
    assert spans.pop("resource")["service.name"] == "mine"
    assert set(spans) == {"POST /v1/chat/completions", "chat scripted"}
    assert set(collector.paths) == {"/v1/traces", "/v1/metrics"}


def test_metrics_reach_the_collector_as_prometheus_has_them(tmp_path: Path, collector: Collector) -> None:
    settings = {"models": [replay_model(tmp_path, TURNS)], "telemetry": {"otlp_endpoint": collector.url}}
    with environment(OTEL_TRACES_EXPORTER="none", OTEL_METRIC_EXPORT_INTERVAL="200"), serving(settings) as gateway:
        for text in ("call", "hi"):
            gateway.post({"model": "scripted", "messages": [{"role": "user", "content": text}], "tools": [TOOL]})
        began = len(collector.paths)
        assert wait_for(lambda: len(collector.paths) > began + 1), "they are sent again and again"
        registry = gateway.app.house.metrics.registry
        seconds = registry.get_sample_value("gen_ai_server_request_duration_seconds_sum", GENERATION | {"error_type": ""})
    assert set(collector.paths) == {"/v1/metrics"}
    metrics = collector.metrics()
    assert metrics["resource"]["service.name"] == "toolwire"
    (point,) = metrics["gen_ai.server.request.duration"].histogram.data_points
    assert _values(point.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "replay",
        "gen_ai.request.model": "scripted",
    }
    assert (point.count, point.sum) == (2, seconds)
    assert sum(point.bucket_counts) == 2
    assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
    assert not point.HasField("min")
    assert metrics["gen_ai.server.request.duration"].unit == "s"
    assert {"gen_ai.server.time_to_first_token", "gen_ai.client.token.usage"} <= set(metrics)
    (calls,) = metrics["toolwire.tool_calls_completed"].sum.data_points
    assert (calls.as_double, _values(calls.attributes)) == (1, {"model": "scripted", "format": "hermes"})
    assert metrics["toolwire.tool_calls_completed"].sum.is_monotonic
    assert metrics["toolwire.event_loop_lag"].gauge.data_points
    (going,) = metrics["toolwire.event_loop_tasks"].gauge.data_points
    assert going.as_double >= 1, "figures of the loop are taken in it"


@pytest.mark.parametrize(
    ("off", "traces", "metrics"),
    [
        ({"OTEL_SDK_DISABLED": "true"}, False, False),
        ({"OTEL_TRACES_EXPORTER": "none"}, False, True),
        ({"OTEL_METRICS_EXPORTER": "none"}, True, False),
    ],
)
def test_the_environment_turns_a_signal_off(off: dict[str, str], traces: bool, metrics: bool) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    with environment(**off):
        spans = open_tracing("http://127.0.0.1:9")
        assert (spans is not None) is traces
        assert (open_metrics_sender("http://127.0.0.1:9", Metrics().registry, "") is not None) is metrics
        if spans is not None:
            spans.close()


def test_a_collector_that_is_not_there_holds_nothing_up(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    settings = {"models": [replay_model(tmp_path, TURNS)], "telemetry": {"otlp_endpoint": "http://127.0.0.1:9"}}

    def seconds() -> tuple[float, float]:
        with serving(settings) as gateway:
            began = time.perf_counter()
            assert gateway.post({"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}).status_code == 200
            answered = time.perf_counter()
        return answered - began, time.perf_counter() - answered

    tries = (seconds() for _ in range(3))  # the SDK alone would try for ten seconds and more each time
    assert any(asked < 2 and left < 8 for asked, left in tries)


WITHOUT = """
import asyncio, sys
{prepare}
import gateway.backends.vllm, gateway.middleware.request_context, gateway.pipeline
assert not any(name.startswith("opentelemetry") for name in sys.modules)
from gateway.app import House
from gateway.errors import GatewayError
from gateway.settings import Settings

async def main():
    settings = Settings.model_validate({{"models": [{model!r}], "telemetry": {telemetry!r}}})
    async with House(settings) as house:
        from gateway.app import create_app
        create_app(settings, house)

try:
    asyncio.run(main())
except GatewayError as error:
    print(error)
wanted = ("opentelemetry.sdk", "opentelemetry.exporter", "gateway.telemetry.spans")
print(sorted(name for name in sys.modules if name.startswith(wanted)))
"""


def run(folder: Path, *, prepare: str = "", telemetry: Any = (), **env: str) -> str:
    """What a fresh process says that opens the gateway."""
    code = WITHOUT.format(prepare=prepare, model=replay_model(folder, TURNS), telemetry=dict(telemetry))
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env={**clean, **env}, timeout=120, check=False
    )
    return done.stdout + done.stderr


def test_nothing_of_opentelemetry_is_loaded_unless_wanted(tmp_path: Path) -> None:
    """FastAPI imports its API package by itself; neither what a request passes nor the SDK behind it is loaded."""
    assert run(tmp_path).strip() == "[]"


MISSING = """
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("opentelemetry.sdk") or name.startswith("opentelemetry.exporter"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""


def test_a_setting_without_the_extra_says_what_to_install(tmp_path: Path) -> None:
    said = run(tmp_path, prepare=MISSING, telemetry={"otlp_endpoint": "http://127.0.0.1:9"})
    assert "telemetry.otlp_endpoint: install toolwire[otel]" in said


def test_variables_without_the_extra_are_warned_of(tmp_path: Path) -> None:
    said = run(tmp_path, prepare=MISSING, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert "install toolwire[otel]" in said
    assert "[]" in said.splitlines(), "the gateway starts all the same"
