"""`/v1/responses` over HTTP, where the official client does not go."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.backends.replay import ReplayBackend
from gateway.chat.plan import Dialect
from tests.support.planned import hermes_call
from tests.support.server import CLIENT, SLOW_TURN, Gateway, replay_model, serving

TURNS = [
    {"match": "call", "text": hermes_call("f", {"a": 4})},
    SLOW_TURN,
    {"match": "^hi$", "text": "Hello!"},
]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving({"models": [replay_model(tmp_path_factory.mktemp("turns"), TURNS)]}) as running:
        yield running


def post(gateway: Gateway, path: str = "", **fields: Any) -> httpx.Response:
    return CLIENT.post(f"{gateway.base_url}/responses{path}", json={"model": "scripted", "input": "hi", **fields})


@pytest.mark.parametrize(
    "body", [b"hello", b"", b"[]", b'{"temperature": NaN}', b'{"model": "scri\x00pted"}', b'{"model": "\xff"}']
)
def test_bad_bodies(gateway: Gateway, body: bytes) -> None:
    for path in ("", "/input_tokens"):
        answer = CLIENT.post(f"{gateway.base_url}/responses{path}", content=body)
        assert answer.status_code == 400
        assert answer.json()["error"].keys() == {"message", "type", "param", "code"}
    assert post(gateway).json()["output"][0]["content"][0]["text"] == "Hello!"


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "", "POST"),
        ("GET", "/input_tokens", "POST"),
        ("POST", "/resp_x", "GET, DELETE"),
        ("GET", "/resp_x/cancel", "POST"),
        ("DELETE", "/resp_x/input_items", "GET"),
    ],
)
def test_other_methods(gateway: Gateway, method: str, path: str, allow: str) -> None:
    answer = CLIENT.request(method, f"{gateway.base_url}/responses{path}")
    assert (answer.status_code, answer.headers["allow"]) == (405, allow)
    assert answer.json()["error"]["code"] == "method_not_allowed"


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("GET", "/input_items")])
def test_responses_that_are_not_there(gateway: Gateway, method: str, path: str) -> None:
    answer = CLIENT.request(method, f"{gateway.base_url}/responses/resp_x{path}")
    assert answer.status_code == 404
    assert answer.json()["error"] == {
        "message": "Response with id 'resp_x' not found.",
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }


def test_the_path_without_v1_answers_too(gateway: Gateway) -> None:
    made = CLIENT.post(f"{gateway.url}/responses", json={"model": "scripted", "input": "hi"}).json()
    assert CLIENT.get(f"{gateway.url}/responses/{made['id']}").json() == made


def test_a_stream(gateway: Gateway) -> None:
    answer = post(gateway, stream=True, web_search_options={}, tools=[{"type": "web_search"}])
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-toolwire-warnings"] == (
        "web_search_options has no effect here; tools of type web_search run elsewhere and were ignored"
    )
    assert answer.text.startswith("event: response.created\ndata: {")
    *_, last, end = answer.text.split("\n\n")
    assert end == ""
    assert last.startswith("event: response.completed\n")
    assert "[DONE]" not in answer.text


def test_what_chat_calls_messages_is_the_input_here(gateway: Gateway) -> None:
    error = post(gateway, input="something unknown").json()["error"]
    assert error["param"] == "input"


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=0", "integer_below_min_value"),
        ("limit=101", "integer_above_max_value"),
        ("limit=x", "invalid_type"),
        ("order=up", "invalid_value"),
    ],
)
def test_bad_queries(gateway: Gateway, query: str, code: str) -> None:
    made = post(gateway).json()
    answer = CLIENT.get(f"{gateway.base_url}/responses/{made['id']}/input_items?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


def test_only_a_run_can_be_streamed_again(gateway: Gateway) -> None:
    made = post(gateway).json()
    assert CLIENT.get(f"{gateway.base_url}/responses/{made['id']}?stream=true").status_code == 400


def test_a_refusal_in_the_background_is_told_at_once_and_leaves_nothing(gateway: Gateway) -> None:
    answer = post(gateway, input="something unknown", background=True)
    assert answer.status_code == 400
    assert post(gateway, model="nope", background=True).status_code == 404


class Constrained(ReplayBackend):
    """Scripted turns behind an engine that takes constraints."""

    dialect: Dialect | None = "structural_tag"


def impossible(**fields: Any) -> dict[str, Any]:
    """A function whose schema keeps the rules of strict ones, and that no decoder can satisfy."""
    number = {"type": "integer", "minimum": 5, "maximum": 3}
    schema = {"type": "object", "properties": {"a": number}, "required": ["a"], "additionalProperties": False}
    return {"type": "function", "name": "f", "parameters": schema, **fields}


@pytest.mark.parametrize("stream", [False, True])
def test_a_function_is_only_taken_for_strict_where_that_can_be_enforced(gateway: Gateway, tmp_path: Path, stream: bool) -> None:
    replay_model(tmp_path, TURNS, name="held")
    catalog = gateway.app.house.catalog
    catalog.add(replace(catalog.find("scripted"), name="held", aliases=(), backend=Constrained(tmp_path / "held.jsonl")))
    answer = post(gateway, model="held", input="call", tools=[impossible()], stream=stream)
    body = json.loads(answer.text.split("data: ")[-1])["response"] if stream else answer.json()
    assert body["tools"][0]["strict"] is False
    assert body["output"][0]["arguments"] == '{"a": 4}'
    demanded = post(gateway, model="held", input="call", tools=[impossible(strict=True)], stream=stream)
    assert demanded.status_code == 400
    assert demanded.json()["error"]["param"] == "tools[0].parameters"


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_does_not_fail_with_the_store_but_says_so(tmp_path: Path, stream: bool) -> None:
    nobody_there = {"kind": "redis", "url": "redis://127.0.0.1:9/0"}
    with serving({"store": nobody_there, "models": [replay_model(tmp_path, TURNS)]}) as gateway:
        answer = post(gateway, stream=stream)
        body = json.loads(answer.text.split("data: ")[-1])["response"] if stream else answer.json()
        assert (body["status"], body["store"]) == ("completed", False)
        assert post(gateway, previous_response_id=body["id"]).status_code == 503
        assert post(gateway, background=True).status_code == 503


def test_where_nothing_holds_decoding_a_function_is_strict_only_if_it_says_so(gateway: Gateway) -> None:
    text = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"], "additionalProperties": False}
    silent = {"type": "function", "name": "f", "parameters": text}
    answer = post(gateway, input="call", tools=[silent])
    assert answer.json()["output"][0]["arguments"] == '{"a": 4}'
    assert answer.json()["tools"][0]["strict"] is False
    assert "takes no constraints" in answer.headers["x-toolwire-warnings"]
    demanded = post(gateway, input="call", tools=[{**silent, "strict": True}])
    assert (demanded.status_code, demanded.json()["error"]["code"]) == (502, "tool_call_invalid")
