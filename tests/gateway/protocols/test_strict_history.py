"""Every protocol takes `strict_history`: a broken earlier turn is then refused, also where the model's entry heals it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.server import CLIENT, Gateway, replay_model, serving

TURNS = [{"match": None, "text": "Hello!"}]
BROKEN = '{"a": '
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": BROKEN}}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "done"},
        ]
    },
    "/v1/messages": {
        "max_tokens": 100,
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "f", "input": {}}]},
            {"role": "user", "content": "and?"},
        ],
    },
    "/v1/responses": {
        "input": [
            {"type": "message", "role": "user", "content": "hi"},
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": BROKEN},
            {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        ]
    },
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("turns")
    models = [replay_model(folder, TURNS, name="lenient"), replay_model(folder, TURNS, name="strict", strict_history=True)]
    with serving({"models": models}) as running:
        yield running


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(
    ("model", "wanted", "status"),
    [("lenient", None, 200), ("lenient", False, 200), ("lenient", True, 400), ("strict", None, 400), ("strict", False, 400)],
)
def test_a_request_can_only_make_it_stricter(gateway: Gateway, path: str, model: str, wanted: bool | None, status: int) -> None:
    answer = CLIENT.post(f"{gateway.url}{path}", json={"model": model, "strict_history": wanted, **BODIES[path]})
    assert answer.status_code == status
    if status == 400:
        assert "is broken" in answer.json()["error"]["message"]
    else:
        assert "strict_history" not in answer.headers.get("x-toolwire-warnings", "")
