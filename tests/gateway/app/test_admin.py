"""The control plane over a real socket."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import jsonschema_rs
import pytest
from openai import OpenAI

from tests.support.planned import hermes_call
from tests.support.server import CLIENT, Gateway, replay_model, serving


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("admin")
    turns = [{"match": "call", "text": hermes_call()}, {"match": None, "text": "Hello!"}]
    limits = {"context": 4096, "max_tokens": 512}
    model = {**replay_model(folder, turns), "name": "org/scripted", "aliases": ["gpt-4o"], **limits}
    with serving({"models": [model]}) as running:
        yield running


def get(gateway: Gateway, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    return CLIENT.request(method, gateway.url + path, headers={key.replace("_", "-"): value for key, value in headers.items()})


def test_the_official_client_lists_models(gateway: Gateway) -> None:
    client = OpenAI(base_url=gateway.base_url, api_key="none")
    (model,) = client.models.list().data
    assert (model.id, model.object) == ("org/scripted", "model")
    assert client.models.retrieve("org/scripted").id == "org/scripted"
    assert client.models.retrieve("gpt-4o").id == "org/scripted"


@pytest.mark.parametrize("name", ["org/scripted", "org%2Fscripted", "gpt-4o"])
def test_a_model_says_what_it_can(gateway: Gateway, name: str) -> None:
    model = get(gateway, f"/v1/models/{name}").json()
    assert isinstance(model["created"], int)
    assert model["aliases"] == ["gpt-4o"]
    assert (model["context_window"], model["max_model_len"], model["max_output_tokens"]) == (4096, 4096, 512)
    assert model["format"] == "hermes"
    assert model["capabilities"]["tools"] is True
    assert model["capabilities"]["strict"] is False, "a replay cannot constrain anything"
    assert (model["capabilities"]["completions"], model["capabilities"]["embeddings"]) == (True, False)


def test_an_anthropic_client_gets_its_own_shape(gateway: Gateway) -> None:
    listed = get(gateway, "/v1/models", anthropic_version="2023-06-01").json()
    assert (listed["has_more"], listed["first_id"], listed["last_id"]) == (False, "org/scripted", "org/scripted")
    (model,) = listed["data"]
    assert model == get(gateway, "/v1/models/gpt-4o", anthropic_version="2023-06-01").json()
    assert (model["type"], model["display_name"], model["max_input_tokens"]) == ("model", "org/scripted", 4096)
    assert model["created_at"].endswith("Z")


def test_an_anthropic_client_pages_through_the_models(tmp_path: Path) -> None:
    models = [replay_model(tmp_path, [{"match": None, "text": "x"}], name=name) for name in ("a", "b", "c")]
    with serving({"models": models}) as running:

        def page(query: str) -> tuple[list[str], bool]:
            listed = get(running, f"/v1/models?{query}", anthropic_version="2023-06-01").json()
            ids = [model["id"] for model in listed["data"]]
            assert (listed["first_id"], listed["last_id"]) == ((ids[0], ids[-1]) if ids else (None, None))
            return ids, listed["has_more"]

        assert page("limit=1000") == (["a", "b", "c"], False)
        assert page("limit=2") == (["a", "b"], True)
        assert page("limit=2&after_id=b") == (["c"], False)
        assert page("limit=1&before_id=c") == (["b"], True)
        assert page("after_id=c") == ([], False)


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/v1/models/nothing", 404, "not_found_error"),
        ("/v1/models?limit=0", 400, "invalid_request_error"),
        ("/v1/models?limit=x", 400, "invalid_request_error"),
        ("/v1/nothing", 404, "not_found_error"),
    ],
)
def test_an_anthropic_client_gets_errors_in_its_own_shape(gateway: Gateway, path: str, status: int, kind: str) -> None:
    answer = get(gateway, path, anthropic_version="2023-06-01")
    body = answer.json()
    assert (answer.status_code, body["type"], body["error"]["type"]) == (status, "error", kind)
    assert body["request_id"] == answer.headers["request-id"]


def test_something_answers_at_the_root(gateway: Gateway) -> None:
    assert get(gateway, "/").json()["name"] == "toolwire"


@pytest.mark.parametrize("path", ["/", "/health", "/v1/health", "/ready", "/version", "/metrics", "/v1/models"])
def test_probes_may_be_asked_for_their_head_only(gateway: Gateway, path: str) -> None:
    assert get(gateway, path).status_code == 200
    head = get(gateway, path, "HEAD")
    assert (head.status_code, head.content) == (200, b"")


def test_ready_tells_each_models_state(gateway: Gateway) -> None:
    expected = {"status": "ready", "models": {"org/scripted": "ready"}, "template_checks": {"org/scripted": "pass"}}
    assert get(gateway, "/ready").json() == expected


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/models/nothing", 404, "model_not_found"),
        ("GET", "/v1/nothing", 404, "unknown_url"),
        ("POST", "/health", 405, "method_not_allowed"),
        ("DELETE", "/v1/models/gpt-4o", 405, "method_not_allowed"),
        ("GET", "/v1/chat/completions", 405, "method_not_allowed"),
    ],
)
def test_every_refusal_is_openais_envelope(gateway: Gateway, method: str, path: str, status: int, code: str) -> None:
    answer = get(gateway, path, method)
    error = answer.json()["error"]
    assert answer.status_code == status
    assert (set(error), error["type"], error["code"]) == ({"message", "type", "param", "code"}, "invalid_request_error", code)
    if status == 405:
        assert answer.headers["allow"] in ("GET", "HEAD", "POST")


def test_every_answer_has_the_headers_sdks_read(gateway: Gateway) -> None:
    for path in ("/health", "/v1/nothing", "/v1/models/nothing"):
        headers = get(gateway, path).headers
        assert headers["openai-version"] == "2020-10-01"
        assert int(headers["openai-processing-ms"]) >= 0
        assert headers["x-request-id"].startswith("req_")
        assert headers["request-id"] == headers["x-request-id"]
        assert len(headers["x-request-id"]) == 36


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("abc-123.X:y_z", True), ("a" * 128, True), ("a" * 129, False), ("with space", False), ("", False)],
)
def test_a_clients_own_request_id_is_kept_when_it_is_a_plain_word(gateway: Gateway, sent: str, kept: bool) -> None:
    for header in ("x_request_id", "x_client_request_id"):
        got = get(gateway, "/health", **{header: sent}).headers["x-request-id"]
        assert (got == sent) is kept


def test_generation_answers_with_and_without_v1(gateway: Gateway) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
    for path in ("/v1/chat/completions", "/chat/completions"):
        answer = CLIENT.post(gateway.url + path, json=body)
        assert answer.json()["choices"][0]["message"]["content"] == "Hello!"
        assert "x-request-id" in answer.headers


def test_metrics_count_requests_calls_and_tokens(gateway: Gateway) -> None:
    tools = [{"type": "function", "function": {"name": "get_weather"}}]
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "call"}], "tools": tools}
    assert gateway.post(body).json()["choices"][0]["finish_reason"] == "tool_calls"
    answer = get(gateway, "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'toolwire_tool_calls_completed_total{format="hermes",model="org/scripted"} 1.0' in answer.text
    assert 'toolwire_requests_total{model="org/scripted",status="200"}' in answer.text
    assert 'toolwire_http_requests_total{route="/v1/chat/completions",status="200"}' in answer.text
    assert 'toolwire_tokens_total{kind="completion",model="org/scripted"}' in answer.text


def test_paths_that_clients_invent_make_no_new_series(gateway: Gateway) -> None:
    for number in range(3):
        get(gateway, f"/made/up/{number}")
        get(gateway, f"/v1/models/made-up-{number}")
    text = get(gateway, "/metrics").text
    assert 'route="other",status="404"' in text
    assert "made" not in text


def test_the_server_describes_itself(gateway: Gateway) -> None:
    document = get(gateway, "/openapi.json").json()
    assert "/v1/models/{model_id}" in document["paths"] or "/v1/models/{model_id:path}" in document["paths"]
    chat = document["paths"]["/v1/chat/completions"]["post"]
    name = chat["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    request = document["components"]["schemas"][name]
    assert {"model", "messages"} <= set(request["required"])
    assert {"model", "messages", "max_tokens"} <= set(document["components"]["schemas"]["MessagesRequest"]["required"])
    validator = jsonschema_rs.Draft202012Validator({**request, "components": document["components"]})
    assert validator.is_valid({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
    assert not validator.is_valid({"model": "m", "messages": "hi"})
    assert get(gateway, "/docs").status_code == 200
