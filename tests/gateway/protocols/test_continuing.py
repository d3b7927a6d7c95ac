"""An answer that is the rest of the conversation's last message, in every protocol, streamed and whole."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.server import CLIENT, Gateway, replay_model, serving

REST = " forty-two."
TURNS = [{"match": None, "text": REST}]
ASKED = {"role": "user", "content": "Seven times six?"}
BEGUN = {"role": "assistant", "content": "It is"}
CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def output(status: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": "It is"}]
    return {"type": "message", "role": "assistant", "status": status, "content": content}


BODIES: dict[str, dict[str, Any]] = {
    CHAT: {"messages": [ASKED, BEGUN], "continue_final_message": True, "add_generation_prompt": False},
    MESSAGES: {"messages": [ASKED, BEGUN], "max_tokens": 100},
    RESPONSES: {"input": [ASKED, output("incomplete")]},
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving({"models": [replay_model(tmp_path_factory.mktemp("turns"), TURNS)]}) as running:
        yield running


def ask(gateway: Gateway, path: str, **fields: Any) -> httpx.Response:
    return CLIENT.post(f"{gateway.url}{path}", json={"model": "scripted", **BODIES[path], **fields})


def text_of(path: str, body: dict[str, Any]) -> str:
    match path:
        case "/v1/chat/completions":
            return str(body["choices"][0]["message"]["content"])
        case "/v1/messages":
            return "".join(block["text"] for block in body["content"])
        case _:
            return "".join(part["text"] for item in body["output"] for part in item["content"])


def delta_of(event: dict[str, Any]) -> str:
    if "choices" in event:
        return "".join(choice["delta"].get("content") or "" for choice in event["choices"])
    delta = event.get("delta", "")
    return str(delta.get("text", "") if isinstance(delta, dict) else delta)


@pytest.mark.parametrize("path", BODIES)
def test_the_answer_is_the_rest_alone(gateway: Gateway, path: str) -> None:
    answer = ask(gateway, path)
    assert answer.status_code == 200
    assert "x-toolwire-warnings" not in answer.headers
    assert text_of(path, answer.json()) == REST


@pytest.mark.parametrize("path", BODIES)
def test_so_it_is_streamed(gateway: Gateway, path: str) -> None:
    lines = ask(gateway, path, stream=True).text.splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    assert "".join(map(delta_of, events)) == REST


def test_a_message_that_is_whole_is_answered(gateway: Gateway) -> None:
    whole = {"input": [ASKED, output("completed")]}
    assert text_of(RESPONSES, ask(gateway, RESPONSES, **whole).json()) == REST
    answer = ask(gateway, CHAT, continue_final_message=False)
    assert "add_generation_prompt: false has no effect" in answer.headers["x-toolwire-warnings"]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": [ASKED]}, "messages[0]"),
        ({"messages": [ASKED, {"role": "assistant", "tool_calls": [CALL]}]}, "messages[1]"),
        ({"add_generation_prompt": True}, "continue_final_message"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
    ],
)
def test_what_cannot_be_continued_is_refused(gateway: Gateway, fields: dict[str, Any], param: str) -> None:
    answer = ask(gateway, CHAT, **fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


def test_anthropics_answer_in_a_format_cannot_be_begun(gateway: Gateway) -> None:
    wanted = {"format": {"type": "json_schema", "schema": {"type": "object"}}}
    answer = ask(gateway, MESSAGES, output_config=wanted)
    assert answer.status_code == 400
    assert "output_config.format" in answer.json()["error"]["message"]
