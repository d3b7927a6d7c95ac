"""The endpoint over a real socket, byte by byte: statuses, headers, frames, and clients that go away."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.server import CLIENT, SLOW_TURN, Gateway, replay_model, serving, wait_for

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "é"}}\n</tool_call>'
TURNS = [
    SLOW_TURN,
    {"match": "call", "text": CALL},
    {"match": None, "text": "Hello!"},
]
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving({"models": [replay_model(tmp_path_factory.mktemp("turns"), TURNS)]}) as running:
        yield running


def request(text: str = "hi", **fields: Any) -> dict[str, Any]:
    return {"model": "scripted", "messages": [{"role": "user", "content": text}], **fields}


def deep(levels: int) -> bytes:
    return b'{"model": "scripted", "messages": ' + b"[" * levels + b"]" * levels + b"}"


def nested_schema(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def with_parameters(schema: Any) -> bytes:
    return json.dumps(request(tools=[{"type": "function", "function": {"name": "f", "parameters": schema}}])).encode()


BAD = {
    "not json": (b"hello", 400, None),
    "empty": (b"", 400, None),
    "an array": (b"[]", 400, None),
    "nan": (b'{"temperature": NaN}', 400, None),
    "nul bytes": (b'{"model": "scri\x00pted"}', 400, None),
    "nul bytes only": (b"\x00" * 100, 400, None),
    "invalid utf-8": (b'{"model": "\xff\xfe"}', 400, None),
    "deep": (deep(150), 400, None),
    "deeper than any stack": (deep(200_000), 400, None),
    "wrong types": (json.dumps(request(stream="yes")).encode(), 400, "invalid_type"),
    "no model": (b'{"messages": []}', 400, "missing_required_parameter"),
    "no messages": (json.dumps(request(messages=[])).encode(), 400, "empty_array"),
    "unknown model": (json.dumps(request(model="nope")).encode(), 404, "model_not_found"),
    "unknown tool chosen": (
        json.dumps(request(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "g"}})).encode(),
        400,
        "invalid_value",
    ),
    "tool without a name": (
        json.dumps(request(tools=[{"type": "function", "function": {}}])).encode(),
        400,
        "missing_required_parameter",
    ),
    "schema of no object": (with_parameters({"type": "array", "items": {}}), 400, "invalid_function_parameters"),
    "schema of no type": (
        with_parameters({"type": "object", "properties": {"a": {"type": "strnig"}}}),
        400,
        "invalid_function_parameters",
    ),
    "schema of wrong shape": (with_parameters({"type": "object", "properties": [1]}), 400, "invalid_function_parameters"),
    "schema from elsewhere": (
        with_parameters({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}),
        400,
        "invalid_function_parameters",
    ),
    "schema too deep": (with_parameters(nested_schema(70)), 400, None),
    "10 MB": (json.dumps(request("x" * 10_000_000)).encode(), 413, "request_too_large"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_clear_4xx_and_the_server_goes_on(gateway: Gateway, name: str) -> None:
    body, status, code = BAD[name]
    answer = gateway.post(content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert code is None or error["code"] == code
    assert len(error["message"]) < 1000
    assert answer.headers["x-should-retry"] == "false"
    assert gateway.post(request()).json()["choices"][0]["message"]["content"] == "Hello!"


def test_a_body_sent_in_chunks_without_a_length_is_bounded_too(gateway: Gateway) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 100_000

    assert gateway.post(content=chunks()).status_code == 413


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_other_methods(gateway: Gateway, method: str) -> None:
    answer = CLIENT.request(method, f"{gateway.base_url}/chat/completions")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    assert answer.json()["error"]["code"] == "method_not_allowed"


def test_the_path_without_v1_answers_too(gateway: Gateway) -> None:
    assert CLIENT.post(f"{gateway.url}/chat/completions", json=request()).status_code == 200


def test_a_stream(gateway: Gateway) -> None:
    answer = gateway.post(request("call", tools=[TOOL], stream=True, stream_options={"include_usage": True}))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["x-accel-buffering"] == "no"
    assert "x-toolwire-warnings" not in answer.headers
    *frames, done, end = answer.text.split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    found = [json.loads(frame.removeprefix("data: ")) for frame in frames]
    fragments = [
        call["function"]["arguments"]
        for chunk in found
        for choice in chunk["choices"]
        for call in choice["delta"].get("tool_calls", ())
    ]
    assert json.loads("".join(fragments)) == {"a": "é"}
    assert found[-1]["choices"] == []
    assert found[-1]["usage"]["completion_tokens"] > 0


def test_warnings_are_told_in_a_header_that_clients_cannot_forge(gateway: Gateway) -> None:
    fields = {"web_search_options": {}, "x\r\nset-cookie: a=b": 1, "ü": 2}
    for stream in (False, True):
        answer = gateway.post(request(stream=stream, **fields))
        assert answer.status_code == 200
        assert "web_search_options has no effect here" in answer.headers["x-toolwire-warnings"]
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_away_stops_the_generation(gateway: Gateway, stream: bool) -> None:
    body = json.dumps(request("slow", stream=stream)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    host, port = gateway.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(head.encode() + body)
        if stream:
            assert b"200 OK" in client.recv(1000)
        assert wait_for(lambda: gateway.running() == 1)
        assert not gateway.wait_until_idle(0.3)
    assert gateway.wait_until_idle()


def test_a_client_that_goes_away_while_it_sends_is_no_error(gateway: Gateway, caplog: pytest.LogCaptureFixture) -> None:
    host, port = gateway.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 500\r\n\r\n{"model"')
    assert gateway.post(request()).status_code == 200
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_broken_demand_is_told_in_either_mode(gateway: Gateway, stream: bool) -> None:
    answer = gateway.post(request("say hello", tools=[TOOL], tool_choice="required", stream=stream))
    if not stream:
        assert answer.status_code == 502
        assert answer.json()["error"]["code"] == "tool_call_invalid"
        return
    assert answer.status_code == 200
    *_, last, end = answer.text.split("\n\n")
    assert end == ""
    assert json.loads(last.removeprefix("data: "))["error"]["code"] == "tool_call_invalid"
    assert "[DONE]" not in answer.text
