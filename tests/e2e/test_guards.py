"""What guards do is visible to the client of every protocol, streamed and not, and in the metrics."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.support.server import CLIENT, Gateway, replay_model, serving, wait_for

TOOL = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
TURNS = [{"match": "Answer now", "role": "tool", "text": "Yes."}, {"match": None, "text": "Hm."}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
LONG = "z" * 900
CHAT: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Does it rain?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": LONG},
    ],
    "tools": [{"type": "function", "function": TOOL}],
}
MESSAGES: dict[str, Any] = {
    "max_tokens": 50,
    "messages": [
        {"role": "user", "content": "Does it rain?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": LONG}]},
    ],
    "tools": [{"name": "look", "input_schema": TOOL["parameters"]}],
}
RESPONSES: dict[str, Any] = {
    "input": [
        {"role": "user", "content": "Does it rain?"},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": LONG},
    ],
    "tools": [{"type": "function", **TOOL}],
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    guards = {"tool_rounds": 1, "result_characters": 400}
    with serving({"models": [replay_model(tmp_path_factory.mktemp("guards"), TURNS, guards=guards)]}) as running:
        yield running


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("path", "body"), [("chat/completions", CHAT), ("messages", MESSAGES), ("responses", RESPONSES)])
def test_the_client_is_told_and_the_model_answers(gateway: Gateway, path: str, body: dict[str, Any], stream: bool) -> None:
    metrics = gateway.app.house.metrics
    before = metrics.guards.labels("scripted", "tool_rounds").value
    answer = CLIENT.post(f"{gateway.base_url}/{path}", json={"model": "scripted", "stream": stream, **body})
    assert answer.status_code == 200
    told = answer.headers["x-toolwire-warnings"]
    assert "tools were withheld: there were 1 turns with calls" in told
    assert "more than 400 characters lost their middle: 1 (of 900 characters)" in told
    assert "Yes." in answer.text
    if not stream:
        assert "look" not in json.dumps(answer.json().get("choices") or answer.json().get("content") or answer.json()["output"])
    assert metrics.guards.labels("scripted", "tool_rounds").value == before + 1


def told_in(response: Any) -> str:
    """The warnings in a response object."""
    found: list[str] = response.model_extra["warnings"]
    assert len(set(found)) == len(found)
    return "; ".join(found)


WITHHELD = "tools were withheld: there were 1 turns with calls"
CUT = "more than 400 characters lost their middle: 1 (of 900 characters)"


@pytest.fixture
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


def test_the_response_says_it_over_a_socket_which_has_no_headers(client: openai.OpenAI) -> None:
    """From its first event on."""
    pytest.importorskip("websockets")
    with client.responses.connect() as connection:
        seen: dict[str, Any] = {}
        connection.response.create(model="scripted", **RESPONSES, service_tier="flex")
        for event in connection:
            seen[event.type] = event
            if event.type == "response.completed":
                break
        for kind in ("response.created", "response.in_progress", "response.completed"):
            told = told_in(seen[kind].response)
            assert WITHHELD in told
            assert CUT in told
            assert "service_tier" in told
        stored = client.responses.retrieve(seen["response.completed"].response.id)
        assert WITHHELD in told_in(stored)
        connection.response.create(model="scripted", input="Hello")
        for event in connection:
            if event.type == "response.completed":
                assert "warnings" not in (event.response.model_extra or {})
                break


def test_so_does_one_in_the_background(client: openai.OpenAI) -> None:
    """Whoever looks at it later does not see the headers of its beginning."""
    begun = client.responses.create(model="scripted", **RESPONSES, background=True)
    assert wait_for(lambda: client.responses.retrieve(begun.id).status == "completed")
    assert WITHHELD in told_in(client.responses.retrieve(begun.id))
    plain = client.responses.create(model="scripted", **RESPONSES)
    assert "warnings" not in (plain.model_extra or {}), "its headers say it"
