"""Who may come in, as the official clients see it."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from gateway.settings import new_secret
from tests.support.keys import guarded, issue
from tests.support.server import CLIENT, PATIENCE, Gateway, serving, wait_for

HI: Any = [{"role": "user", "content": "hi"}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def full(folder: Path) -> str:
    return issue(folder / "keys.jsonl", "full")


@pytest.fixture(scope="module")
def narrow(folder: Path) -> str:
    return issue(folder / "keys.jsonl", "narrow", models=("oth*",))


@pytest.fixture(scope="module")
def gateway(folder: Path, full: str, narrow: str) -> Iterator[Gateway]:
    with guarded(folder) as running:
        yield running


def openai_client(gateway: Gateway, key: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=gateway.base_url, api_key=key, max_retries=0)


def anthropic_client(gateway: Gateway, key: str, **more: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=gateway.url, api_key=key, max_retries=0, **more)


def test_a_good_key_is_let_in(gateway: Gateway, full: str) -> None:
    with openai_client(gateway, full) as client:
        answer = client.chat.completions.create(model="scripted", messages=HI)
        assert answer.choices[0].message.content == "Hello!"
        assert {model.id for model in client.models.list()} == {"scripted", "other"}
    with anthropic_client(gateway, full) as claude:
        message = claude.messages.create(model="scripted", max_tokens=20, messages=HI)
        assert message.content[0].type == "text"
    body = {"model": "scripted", "messages": HI}
    assert gateway.post(body, headers={"api-key": full}).status_code == 200
    assert gateway.post(body, headers={"authorization": f"bearer  {full}"}).status_code == 200


def test_a_wrong_key_is_refused_and_shown_masked(gateway: Gateway) -> None:
    wrong = new_secret()
    with openai_client(gateway, wrong) as client:
        with pytest.raises(openai.AuthenticationError) as refused:
            client.chat.completions.create(model="scripted", messages=HI)
        assert refused.value.code == "invalid_api_key"
        assert f"tw-***{wrong[-4:]}" in refused.value.message
        assert wrong not in refused.value.message
        with pytest.raises(openai.AuthenticationError):
            client.responses.create(model="scripted", input="hi")
    with anthropic_client(gateway, wrong) as claude:
        with pytest.raises(anthropic.AuthenticationError) as theirs:
            claude.messages.create(model="scripted", max_tokens=20, messages=HI)
        told: Any = theirs.value.body
        assert (told["type"], told["error"]["type"]) == ("error", "authentication_error")
        assert wrong not in json.dumps(told)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/chat/completions"),
        ("POST", "/chat/completions"),
        ("POST", "/v1/messages"),
        ("POST", "/messages/count_tokens"),
        ("POST", "/v1/completions"),
        ("POST", "/v1/embeddings"),
        ("POST", "/responses"),
        ("GET", "/v1/responses/resp_1"),
        ("DELETE", "/v1/responses/resp_1"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/scripted"),
        ("GET", "/metrics"),
        ("GET", "//health"),
        ("GET", "/health/"),
        ("GET", "/health/%2e%2e/metrics"),
        ("GET", "/nothing"),
    ],
)
def test_no_other_path_answers_without_a_key(gateway: Gateway, method: str, path: str) -> None:
    answer = CLIENT.request(method, gateway.url + path, json={} if method == "POST" else None)
    assert answer.status_code == 401
    assert "You didn't provide an API key" in answer.text


@pytest.mark.parametrize("path", ["/health", "/v1/health", "/ready", "/"])
def test_probes_need_no_key(gateway: Gateway, path: str) -> None:
    assert CLIENT.get(gateway.url + path).status_code == 200


def test_metrics_are_open_where_the_settings_say_so(tmp_path: Path) -> None:
    with guarded(tmp_path, auth={"metrics": "open"}) as running:
        assert CLIENT.get(f"{running.url}/metrics").status_code == 200
        assert CLIENT.get(f"{running.base_url}/models").status_code == 401


def test_a_key_sees_and_uses_only_its_models(gateway: Gateway, narrow: str) -> None:
    with openai_client(gateway, narrow) as client:
        assert [model.id for model in client.models.list()] == ["other"]
        assert client.chat.completions.create(model="other", messages=HI).choices[0].message.content == "Hello!"
        for model in ("scripted", "gpt-4o", "unknown"):
            with pytest.raises(openai.PermissionDeniedError) as refused:
                client.chat.completions.create(model=model, messages=HI)
            assert (refused.value.code, refused.value.param) == ("model_not_allowed", "model")
        with pytest.raises(openai.PermissionDeniedError):
            client.responses.create(model="scripted", input="hi")
        with pytest.raises(openai.PermissionDeniedError):
            client.models.retrieve("scripted")
        with pytest.raises(openai.PermissionDeniedError):
            client.completions.create(model="scripted", prompt="hi")
        with pytest.raises(openai.NotFoundError) as missing:
            client.chat.completions.create(model="other-unknown", messages=HI)
        assert "`other`" in missing.value.message
        assert "scripted" not in missing.value.message
    with anthropic_client(gateway, narrow) as claude:
        with pytest.raises(anthropic.PermissionDeniedError) as theirs:
            claude.messages.create(model="scripted", max_tokens=20, messages=HI)
        told: Any = theirs.value.body
        assert told["error"]["type"] == "permission_error"
        with pytest.raises(anthropic.PermissionDeniedError):
            claude.messages.count_tokens(model="scripted", messages=HI)
        assert [model.id for model in claude.models.list()] == ["other"]


def test_a_response_is_seen_with_its_own_key_only(gateway: Gateway, folder: Path, full: str) -> None:
    """Also when the key comes in a header that is looked at last, or a second one comes with it."""
    second = issue(folder / "keys.jsonl", "second")
    url = f"{gateway.base_url}/responses"
    answer = CLIENT.post(url, json={"model": "scripted", "input": "hi"}, headers={"api-key": full})
    mine = f"{url}/{answer.json()['id']}"
    assert CLIENT.get(mine, headers={"authorization": f"Bearer {full}"}).status_code == 200
    assert wait_for(lambda: CLIENT.get(f"{gateway.base_url}/models", headers={"api-key": second}).status_code == 200)
    assert CLIENT.get(mine, headers={"api-key": second}).status_code == 404
    both = {"authorization": f"Bearer {second}", "x-api-key": full}
    assert CLIENT.get(mine, headers=both).status_code == 404


def test_keys_come_and_go_without_a_restart(tmp_path: Path) -> None:
    with guarded(tmp_path) as running:
        secret = issue(tmp_path / "keys.jsonl", "new")

        def status() -> int:
            return CLIENT.get(f"{running.base_url}/models", headers={"x-api-key": secret}).status_code

        assert wait_for(lambda: status() == 200)
        (tmp_path / "keys.jsonl").write_text("", encoding="utf-8")
        assert wait_for(lambda: status() == 401)


def test_a_websocket_needs_a_key_too_and_loses_it_when_it_is_revoked(tmp_path: Path) -> None:
    secret = issue(tmp_path / "keys.jsonl", "socket", models=("other",))
    ask = json.dumps({"type": "response.create", "model": "other", "input": "hi"})
    with guarded(tmp_path) as running:
        url = running.base_url.replace("http", "ws") + "/responses"
        with pytest.raises(InvalidStatus) as refused, connect(url, proxy=None):
            pass
        assert refused.value.response.status_code == 401
        assert b"provide an API key" in refused.value.response.body
        with connect(url, additional_headers={"Authorization": f"Bearer {secret}"}, proxy=None) as socket:
            socket.send(ask)
            while (event := json.loads(socket.recv(PATIENCE)))["type"] != "response.completed":
                assert event["type"] != "error"
            socket.send(json.dumps({"type": "response.create", "model": "scripted", "input": "hi"}))
            event = json.loads(socket.recv(PATIENCE))
            assert (event["status"], event["error"]["code"]) == (403, "model_not_allowed")
            (tmp_path / "keys.jsonl").write_text("", encoding="utf-8")
            time.sleep(1.1)
            socket.send(ask)
            with pytest.raises(ConnectionClosed):
                socket.recv(PATIENCE)


def test_without_keys_in_the_settings_everybody_is_let_in(tmp_path: Path) -> None:
    from tests.support.server import replay_model

    with serving({"models": [replay_model(tmp_path, [{"match": None, "text": "Hello!"}])]}) as running:
        assert running.post({"model": "scripted", "messages": HI}).status_code == 200
