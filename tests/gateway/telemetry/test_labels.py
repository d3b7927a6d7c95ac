"""Whatever clients and models write, the number of series stays the same: no text of theirs is a label."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from tests.support.planned import hermes_call
from tests.support.server import CLIENT, Gateway, replay_model, serving

WORDS = ("alpha", "beta-7", "gamma_b")
SAMPLE = re.compile(r"^(\w+\{.*\}|\w+) [^ ]+$")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("labels")
    turns: list[dict[str, Any]] = [{"match": word, "text": hermes_call(f"tool_{word}", {"a": word})} for word in WORDS]
    models = [
        replay_model(folder, [*turns, {"match": None, "text": "Hm."}], aliases=["claude-*", "any-*"], guards={"tool_rounds": 1}),
        {"name": "away", "backend": "vllm", "urls": ["http://127.0.0.1:9"], "chat_template": "toolwire/hermes"},
    ]
    with serving({"models": models}) as running:
        yield running


def series(gateway: Gateway) -> set[str]:
    """All series by name and labels."""
    lines = CLIENT.get(f"{gateway.url}/metrics").text.splitlines()
    return {found[1] for line in lines if (found := SAMPLE.match(line)) and not line.startswith("#")}


def tool(word: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": f"tool_{word}", "parameters": {"type": "object"}, **more}}


def chats(word: str) -> Iterator[dict[str, Any]]:
    """Bodies of every outcome: unknown and patterned models, calls, undeclared calls, broken strict ones, history, refusals."""
    user = [{"role": "user", "content": word}]
    call = {"id": word, "type": "function", "function": {"name": f"tool_{word}", "arguments": "{}"}}
    rounds = [*user, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": word, "content": word}]
    schema = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"], "additionalProperties": False}
    for model in (word, f'{word}"\n\\', f"claude-{word}", f"any-{word}", "away", "scripted"):
        yield {"model": model, "messages": user}
    tools = {"model": f"any-{word}", "messages": user, "tools": [tool(word)]}
    yield tools
    yield {**tools, "stream": True}
    yield {**tools, "tools": [tool("other")]}
    yield {**tools, "tools": [tool(word, strict=True, parameters=schema)]}
    yield {**tools, "tool_choice": {"type": "function", "function": {"name": f"tool_{word}"}}}
    yield {**tools, "tool_choice": word}
    yield {**tools, "messages": rounds}
    yield {**tools, "messages": [{"role": word, "content": word}]}
    yield {**tools, word: word, "user": word, "stop": [word], "metadata": {word: word}}


def ask_everything(gateway: Gateway, word: str) -> set[int]:
    """Requests to every route with this word wherever a client can write one; the statuses of the answers."""
    answers: list[httpx.Response] = [
        gateway.post(body, headers={"x-request-id": word, "user-agent": word}) for body in chats(word)
    ]

    def post(path: str, body: Any) -> None:
        answers.append(CLIENT.post(f"{gateway.url}{path}", json=body))

    for model in (word, f"any-{word}"):
        message = [{"role": "user", "content": word}]
        post(
            "/v1/messages",
            {"model": model, "max_tokens": 9, "messages": message, "tools": [{"name": f"tool_{word}", "input_schema": {}}]},
        )
        post("/v1/messages/count_tokens", {"model": model, "messages": message})
        post("/v1/responses", {"model": model, "input": word, "tools": [{**tool(word)["function"], "type": "function"}]})
        post("/v1/responses", {"model": model, "input": word, "previous_response_id": word})
        post("/v1/completions", {"model": model, "prompt": word})
        post("/v1/embeddings", {"model": model, "input": word})
    for path in (f"/{word}", f"/v1/{word}", f"/v1/models/{word}", f"/v1/responses/{word}", f"/v1/conversations/{word}/items"):
        answers.append(CLIENT.get(f"{gateway.url}{path}?{word}={word}"))
        answers.append(CLIENT.request(word.upper().replace("_", "-"), f"{gateway.url}{path}"))
    return {answer.status_code for answer in answers}


def test_no_text_of_a_client_or_a_model_becomes_a_label(gateway: Gateway) -> None:
    first, *others = WORDS
    series(gateway)  # which has a series of its own
    statuses = ask_everything(gateway, first)
    assert {200, 400, 404, 502, 503} <= statuses, "all sorts of outcomes"
    known = series(gateway)
    assert any(one.startswith('toolwire_tool_calls_completed_total{format="hermes",model="scripted"}') for one in known)
    assert not [one for one in known if first in one]
    for word in others:
        assert ask_everything(gateway, word) == statuses
    assert series(gateway) == known


def test_a_log_line_names_no_tool_and_no_model_of_a_client(gateway: Gateway, caplog: pytest.LogCaptureFixture) -> None:
    """Its keys are few and fixed, and its words are those of the configuration."""
    with caplog.at_level("INFO", logger="gateway.requests"):
        ask_everything(gateway, "beta-7")
    fields = [msgspec.to_builtins(record.fields) for record in caplog.records if hasattr(record, "fields")]
    assert len(fields) > 15
    assert "beta-7" not in json.dumps(fields)
    assert {line["model"] for line in fields} == {"scripted", "away", "unknown"}
    assert len({key for line in fields for key in line}) < 40


def test_names_of_keys_are_no_labels_either(tmp_path: Path) -> None:
    """An operator may have thousands of them."""
    from tests.support.keys import guarded, issue

    secrets = [issue(tmp_path / "keys.jsonl", f"team-{word}", limits={"requests_per_minute": 1}) for word in WORDS]
    with guarded(tmp_path, auth={"metrics": "open"}) as running:
        for secret in secrets:
            for _ in range(2):
                running.post(
                    {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}, headers={"x-api-key": secret}
                )
        found = series(running)
        assert 'toolwire_limited_requests_total{limit="requests"}' in found
        assert not [one for one in found if "team" in one]
