"""Every error that a client may get, over a real socket: its status, type, code, field and words, in each protocol's shape."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.protocols.answer import told
from tests.support import traces
from tests.support.engines import engine_processes
from tests.support.error_cases import CASES, HI, MESSAGES, Case
from tests.support.keys import guarded, issue
from tests.support.server import CLIENT, Gateway, replay_model
from tests.support.tokenizers import byte_level

DOWN = "http://127.0.0.1:9"
NEVER = {
    "unknown_parameter": "fields that are not known are ignored, with a warning",
    "invalid_parameter_combination": "of max_tokens and max_completion_tokens the second counts",
    "dangling_tool_calls": "histories are healed; strict_history refuses them as invalid_history",
    "orphan_tool_message": "as above",
    "quota": "budgets are limits that end by themselves: rate_limit_exceeded",
    "server_error": "a fault of ours; see below",
}
OWN_WORDS = ("backend_down",)
"""Said with the engine's name and what is wrong with it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("errors")


@pytest.fixture(scope="module")
def keys(folder: Path) -> dict[str, str]:
    file = folder / "keys.jsonl"
    made = {"good": issue(file, "good"), "other": issue(file, "other", models=("other",))}
    return {**made, "slow": issue(file, "slow", limits={"requests_per_minute": 1}), "bad": f"{made['good']}x", "": ""}


@pytest.fixture(scope="module")
def gateway(folder: Path, keys: dict[str, str]) -> Iterator[Gateway]:
    root = str(byte_level(folder / "tokenizer"))
    with engine_processes(1, root=root, status=429, retry_after="2") as (engine,):
        busy = {"name": "busy", "backend": "vllm", "urls": [engine.url], "chat_template": "toolwire/hermes", "context": 200}
        models = [replay_model(folder, [{"match": None, "text": "Hello!"}], name="plain", aliases=["scripted"]), busy]
        models.append({**busy, "name": "down", "urls": [DOWN], "tokenizer": root})
        with guarded(folder, models=models, limits={"body_bytes": 150_000}) as running:
            yield running


def ask(gateway: Gateway, case: Case, keys: Mapping[str, str], path: str = "") -> httpx.Response:
    given = {"model": "scripted", "messages": HI, "input": "hi", "max_tokens": 9, **case.fields}
    body = {name: value for name, value in given.items() if value is not None}
    headers = {"authorization": f"Bearer {keys[case.key]}"} if case.key else {}
    if case.status == 415:
        headers["content-encoding"] = "br"
    sent: Any = {"content": case.content} if case.content is not None else {"json": body} if case.method == "POST" else {}
    return CLIENT.request(case.method, gateway.url + (path or case.path), headers=headers, **sent)


def answered(gateway: Gateway, name: str, keys: Mapping[str, str], path: str = "") -> httpx.Response:
    answer = ask(gateway, CASES[name], keys, path)
    for _ in range(2):  # of three requests in a row, one is refused, even where a minute ends among them
        if name == "rate_limit" and answer.is_success:
            answer = ask(gateway, CASES[name], keys, path)
    return answer


@pytest.mark.parametrize("name", CASES)
def test_the_error_is_as_clients_know_it(gateway: Gateway, keys: dict[str, str], name: str) -> None:
    case, answer = CASES[name], answered(gateway, name, keys)
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"error"}
    error = body["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert (answer.status_code, error["type"], error["code"], error["param"]) == (case.status, case.type, case.code, case.param)
    assert re.match(case.message, error["message"]), error["message"]
    for header, value in {"x-should-retry": "false", **case.headers}.items():
        assert re.fullmatch(value, answer.headers[header]), (header, answer.headers[header])
    assert answer.headers["x-request-id"]


def test_a_fault_of_ours_is_told_without_its_reason() -> None:
    error = told(KeyError("secret")).body()["error"]
    message = "The server had an error while processing your request. Sorry about that!"
    assert error == {"message": message, "type": "server_error", "param": None, "code": None}


ANTHROPIC: dict[str, tuple[int, str]] = {
    "bad_json": (400, "invalid_request_error"),
    "missing_param": (400, "invalid_request_error"),
    "api_key": (401, "authentication_error"),
    "no_key": (401, "authentication_error"),
    "model_not_allowed": (403, "permission_error"),
    "model_not_found": (404, "not_found_error"),
    "too_large": (413, "request_too_large"),
    "rate_limit": (429, "rate_limit_error"),
    "backend_busy": (429, "rate_limit_error"),
    "backend_down": (529, "overloaded_error"),
    "context_length": (400, "invalid_request_error"),
}
ELSEWHERE = {402: "nobody pays here", 500: "a fault of ours", 504: "see test_messages_routes.py: every error's type"}


@pytest.mark.parametrize("name", ANTHROPIC)
def test_the_same_errors_on_messages(gateway: Gateway, keys: dict[str, str], name: str) -> None:
    case, expected = CASES[name], ANTHROPIC[name]
    answer = answered(gateway, name, keys, MESSAGES)
    body = answer.json()
    assert body.keys() == {"type", "error", "request_id"}
    assert (answer.status_code, body["type"], body["error"]["type"]) == (expected[0], "error", expected[1])
    assert body["request_id"] == answer.headers["request-id"]
    assert body["error"]["message"]
    if "retry-after" in case.headers:
        assert re.fullmatch(case.headers["retry-after"], answer.headers["retry-after"])
    if name == "context_length":
        assert re.fullmatch(r"prompt is too long: \d+ tokens > 200 maximum", body["error"]["message"])


recorded = pytest.mark.skipif(traces.table("errors.json") is None, reason=traces.ABSENT)


@recorded
def test_no_error_of_the_recorded_table_is_left_out(gateway: Gateway, keys: dict[str, str]) -> None:
    table = traces.table("errors.json")
    assert {row["id"] for row in table["openai"]} <= CASES.keys() | NEVER.keys()
    assert {row["status"] for row in table["anthropic"]} <= {status for status, _ in ANTHROPIC.values()} | ELSEWHERE.keys()


@recorded
@pytest.mark.parametrize("row", (traces.table("errors.json") or {}).get("openai", ()), ids=lambda row: row["id"])
def test_errors_are_those_of_the_recorded_table(gateway: Gateway, keys: dict[str, str], row: dict[str, Any]) -> None:
    if row["id"] in NEVER:
        pytest.skip(NEVER[row["id"]])
    answer = answered(gateway, row["id"], keys)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (row["status"], row["code"])
    assert error["type"] in row["type"].split(" | ")
    params = [pattern_of(param) for param in (row["param"] or "").split(" | ") if param]
    assert error["param"] in (None, "model") if not params else any(re.fullmatch(param, error["param"]) for param in params)
    if row["id"] not in OWN_WORDS:
        assert re.match(pattern_of(row["message"]), error["message"]), (row["message"], error["message"])


def pattern_of(text: str) -> str:
    """A text of the table, in which <this> and … stand for anything, and i and j for numbers."""
    return re.sub(r"<[^>]*>|\\\[[ij]\\\]|\u2026", lambda gap: r"\[\d+\]" if gap[0].startswith("\\") else ".*", re.escape(text))
