"""A request leaves nothing behind that only the collector of cycles could find: it may look seldom, and stops nobody's stream."""

import gc
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.planned import hermes_call
from tests.support.server import CLIENT, Gateway, replay_model, serving

TOOL = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
HI = [{"role": "user", "content": "hi"}]
REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": HI, "tools": [{"type": "function", "function": TOOL}]},
    "/v1/messages": {"messages": HI, "max_tokens": 100, "tools": [{"name": TOOL["name"], "input_schema": TOOL["parameters"]}]},
    "/v1/responses": {"input": "hi", "tools": [{"type": "function", **TOOL}]},
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    turns = [{"match": None, "pieces": ["Let", " me", " look", ".", hermes_call()], "delay_ms": 1}]
    with serving({"models": [replay_model(tmp_path_factory.mktemp("turns"), turns)]}) as running:
        yield running


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("path", REQUESTS)
def test_nothing_is_left_to_collect(gateway: Gateway, path: str, stream: bool) -> None:
    body = json.dumps({"model": "scripted", "stream": stream, **REQUESTS[path]})
    headers = {"content-type": "application/json"}

    def ask() -> None:
        assert "get_weather" in CLIENT.post(f"{gateway.url}{path}", content=body, headers=headers).text

    for _ in range(3):  # what is made once is made
        ask()
    assert gateway.wait_until_idle()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(5):
            ask()
        assert gateway.wait_until_idle()
        gc.collect()
        left = Counter(type(thing).__module__ for thing in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not {module for module in left if module.startswith(("gateway", "parsers", "uvicorn"))}, left
