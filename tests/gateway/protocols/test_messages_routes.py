"""The Messages endpoints over a real socket, byte by byte: statuses, headers, frames, and clients that go away."""

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway import errors
from gateway.app import House
from gateway.errors import GatewayError
from gateway.protocols.messages.encode import PING
from gateway.protocols.messages.refusal import error_body, status_of
from gateway.protocols.messages.routes import Messages
from gateway.settings import Settings
from tests.support.server import CLIENT, SLOW_TURN, Gateway, replay_model, serving, wait_for
from tests.support.tokenizers import byte_level

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "é"}}\n</tool_call>'
TURNS = [
    SLOW_TURN,
    {"match": "call", "text": CALL},
    {"match": None, "text": "Hello!"},
]
TOOL = {"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}}}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    entry = replay_model(tmp_path_factory.mktemp("turns"), TURNS, aliases=["claude-*"])
    with serving({"models": [entry], "limits": {"body_bytes": 100_000}}) as running:
        yield running


def request(text: str = "hi", **fields: Any) -> dict[str, Any]:
    return {"model": "claude-x", "max_tokens": 500, "messages": [{"role": "user", "content": text}], **fields}


def post(gateway: Gateway, body: Any = None, path: str = "/v1/messages", **more: Any) -> httpx.Response:
    fields = more if "content" in more else {"json": body, **more}
    return CLIENT.post(gateway.url + path, **fields)


BAD = {
    "not json": (b"hello", 400, "invalid_request_error"),
    "an array": (b"[]", 400, "invalid_request_error"),
    "deeper than any stack": (b'{"messages": ' + b"[" * 20_000 + b"]" * 20_000 + b"}", 400, "invalid_request_error"),
    "no max_tokens": (json.dumps(request(max_tokens=None)).encode(), 400, "invalid_request_error"),
    "unknown model": (json.dumps(request(model="nope")).encode(), 404, "not_found_error"),
    "schema of no object": (
        json.dumps(request(tools=[{"name": "f", "input_schema": {"type": "array"}}])).encode(),
        400,
        "invalid_request_error",
    ),
    "too large": (json.dumps(request("x" * 200_000)).encode(), 413, "request_too_large"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_clear_4xx_and_the_server_goes_on(gateway: Gateway, name: str) -> None:
    content, status, kind = BAD[name]
    answer = post(gateway, content=content, headers={"content-type": "application/json"})
    body = answer.json()
    assert (answer.status_code, body["type"], body["error"]["type"]) == (status, "error", kind)
    assert 0 < len(body["error"]["message"]) < 1000
    assert body["request_id"] == answer.headers["request-id"]
    assert answer.headers["x-should-retry"] == "false"
    assert post(gateway, request()).json()["content"] == [{"type": "text", "text": "Hello!"}]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_other_methods(gateway: Gateway, method: str, path: str) -> None:
    answer = CLIENT.request(method, gateway.url + path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", ["/v1/messages", "/messages", "/v1/messages?beta=true"])
def test_the_path_as_clients_spell_it(gateway: Gateway, path: str) -> None:
    assert post(gateway, request(), path).json()["model"] == "claude-x"


def test_an_unknown_url_below_it_is_told_in_the_same_shape(gateway: Gateway) -> None:
    answer = post(gateway, {}, "/v1/messages/batches")
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found_error")


def test_a_stream(gateway: Gateway) -> None:
    answer = post(gateway, request("call", tools=[TOOL], stream=True))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["request-id"].startswith("req_")
    *frames, end = answer.text.split("\n\n")
    assert end == ""
    names = [frame.split("\n")[0].removeprefix("event: ") for frame in frames]
    assert names[:2] == ["message_start", "content_block_start"]
    assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    data = [json.loads(frame.split("\n")[1].removeprefix("data: ")) for frame in frames]
    fragments = [frame["delta"]["partial_json"] for frame in data if frame["type"] == "content_block_delta"]
    assert json.loads("".join(fragments)) == {"a": "é"}
    assert data[-2]["delta"]["stop_reason"] == "tool_use"
    assert data[-2]["usage"]["output_tokens"] > 0


@pytest.mark.parametrize("stream", [False, True])
def test_warnings_are_told_in_a_header(gateway: Gateway, stream: bool) -> None:
    answer = post(gateway, request(stream=stream, tools=[{"type": "bash_20250124", "name": "bash"}], made_up=1))
    told = answer.headers["x-toolwire-warnings"]
    assert "made_up has no effect here" in told
    assert "tools of type bash_20250124 run elsewhere and were ignored" in told


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_away_stops_the_generation(gateway: Gateway, stream: bool) -> None:
    body = json.dumps(request("slow", stream=stream)).encode()
    head = f"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    host, port = gateway.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(head.encode() + body)
        if stream:
            assert b"200 OK" in client.recv(1000)
        assert wait_for(lambda: gateway.running() == 1)
        assert not gateway.wait_until_idle(0.3)
    assert gateway.wait_until_idle()


@pytest.mark.parametrize("stream", [False, True])
def test_a_broken_demand_is_told_in_either_mode(gateway: Gateway, stream: bool) -> None:
    answer = post(gateway, request("say hello", tools=[TOOL], tool_choice={"type": "any"}, stream=stream))
    if not stream:
        assert (answer.status_code, answer.json()["error"]["type"]) == (502, "api_error")
        return
    *_, last, end = answer.text.split("\n\n")
    name, data = last.split("\n")
    assert (answer.status_code, end, name) == (200, "", "event: error")
    told = json.loads(data.removeprefix("data: "))
    assert (told["type"], told["error"]["type"]) == ("error", "api_error")
    assert told["request_id"] == answer.headers["request-id"]
    assert "message_stop" not in answer.text


def test_tokens_are_counted_as_a_generation_would(gateway: Gateway) -> None:
    body = request("call", tools=[TOOL], system="Be brief.")
    spent = post(gateway, body).json()["usage"]["input_tokens"]
    del body["max_tokens"]
    answer = post(gateway, body, "/v1/messages/count_tokens")
    assert answer.json() == {"input_tokens": spent}
    assert spent > 10


def test_a_tokenizer_tells_the_tokens_at_once_and_where_the_context_ends(tmp_path: Path) -> None:
    entry = replay_model(tmp_path, TURNS, tokenizer=str(byte_level(tmp_path / "tokenizer")), chat_template="toolwire/hermes")
    with serving({"models": [{**entry, "context": 300}]}) as running:
        body = {**request(stream=True), "model": "scripted"}
        start = post(running, body).text.split("\n")[1].removeprefix("data: ")
        count = post(running, body, "/v1/messages/count_tokens").json()["input_tokens"]
        assert json.loads(start)["message"]["usage"]["input_tokens"] == count > 20
        body = {**request("x" * 500), "model": "scripted"}
        count = post(running, body, "/v1/messages/count_tokens").json()["input_tokens"]
        answer = post(running, body)
        assert answer.status_code == 400
        assert answer.json()["error"] == {
            "type": "invalid_request_error",
            "message": f"prompt is too long: {count} tokens > 300 maximum",
        }


@pytest.mark.parametrize(("fields", "status"), [({"model": "nope"}, 404), ({"messages": []}, 400)])
def test_what_cannot_be_counted_is_told(gateway: Gateway, fields: dict[str, Any], status: int) -> None:
    answer = post(gateway, {**request(), **fields}, "/v1/messages/count_tokens")
    assert (answer.status_code, answer.json()["type"]) == (status, "error")


def test_an_idle_stream_is_kept_alive_by_pings(tmp_path: Path) -> None:
    turns = [{"match": None, "pieces": ["a", "b"], "delay_ms": 300}]
    settings = Settings.model_validate({"models": [replay_model(tmp_path, turns)]})
    body = json.dumps({**request(stream=True), "model": "scripted"}).encode()
    sent: list[Any] = []

    async def scenario() -> None:
        asked = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            return asked.pop() if asked else await asyncio.Event().wait() or {}

        async def send(message: Any) -> None:
            sent.append(message)

        async with House(settings) as house:
            endpoint = Messages(house.pipeline, settings.limits, keep_alive=0.05)
            await endpoint({"type": "http", "method": "POST", "path": "/v1/messages", "headers": []}, receive, send)

    asyncio.run(scenario())
    frames = [message["body"] for message in sent[1:]]
    assert frames.count(PING) >= 3, "more than one for each gap"
    assert b'"text":"a"' in b"".join(frames)


def every_error() -> Iterator[type[GatewayError]]:
    waiting = [GatewayError]
    while waiting:
        found = waiting.pop()
        waiting += found.__subclasses__()
        if found.__module__ == errors.__name__:
            yield found


EXPECTED = {
    "GatewayError": (500, "api_error"),
    "AuthError": (401, "authentication_error"),
    "UnknownModel": (404, "not_found_error"),
    "BodyTooLarge": (413, "request_too_large"),
    "MethodNotAllowed": (405, "invalid_request_error"),
    "LimitError": (429, "rate_limit_error"),
    "BackendError": (502, "api_error"),
    "BackendUnavailable": (529, "overloaded_error"),
    "BackendOverloaded": (529, "overloaded_error"),
    "BackendTimeout": (504, "timeout_error"),
    "ContextTooLong": (400, "invalid_request_error"),
    "ToolSchemaInvalid": (400, "invalid_request_error"),
    "ToolCallInvalid": (502, "api_error"),
    "ModelNotAllowed": (403, "permission_error"),
    "TokenLimitError": (429, "rate_limit_error"),
    "BudgetSpent": (429, "rate_limit_error"),
    "BackendBusy": (429, "rate_limit_error"),
    "KeyMissing": (401, "authentication_error"),
}


@pytest.mark.parametrize("kind", [*every_error()], ids=lambda kind: kind.__name__)
def test_every_error_has_one_of_anthropics_types(kind: type[GatewayError]) -> None:
    error = kind("why", retry_after=1) if issubclass(kind, errors.LimitError) else kind("why")
    body = error_body(error)
    assert body.keys() == {"type", "error", "request_id"}
    assert body["error"]["message"].endswith("why")
    if kind.__name__ in EXPECTED:
        assert (status_of(error), body["error"]["type"]) == EXPECTED[kind.__name__]
    elif issubclass(kind, errors.LimitError):
        assert (status_of(error), body["error"]["type"]) == (429, "rate_limit_error")
    else:
        assert body["error"]["type"] == ("invalid_request_error" if error.status < 500 else "api_error")


def test_a_refusal_of_rights_is_no_refusal_of_the_key() -> None:
    assert error_body(errors.AuthError("no", status=403))["error"]["type"] == "permission_error"


def test_a_full_context_is_told_in_the_words_that_make_clients_shorten_it() -> None:
    assert error_body(errors.ContextTooLong("x", tokens=(9000, 4096)))["error"]["message"] == (
        "prompt is too long: 9000 tokens > 4096 maximum"
    )
    assert error_body(errors.ContextTooLong("the engine said so"))["error"]["message"].startswith("prompt is too long: ")


def test_a_limit_says_when_to_come_again(gateway: Gateway) -> None:
    async def refused() -> Any:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        house: House = gateway.app.house
        await Messages(house.pipeline, house.settings.limits).refuse(send, errors.LimitError("slow down", retry_after=1.5))
        return sent[0]

    start = asyncio.run(refused())
    assert start["status"] == 429
    assert (b"retry-after", b"2") in start["headers"]
