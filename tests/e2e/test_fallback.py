"""Another model answers where none of a model's engines can, and says so; but only where it can do what is asked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.support.engines import engine_processes
from tests.support.keys import guarded, issue
from tests.support.server import CLIENT, Gateway, replay_model, serving
from tests.support.tokenizers import byte_level

HI: Any = [{"role": "user", "content": "hi"}]
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
NOBODY = "http://127.0.0.1:9"
TOLD = "small answers instead of large, which cannot be reached now"


def entries(folder: Path, url: str) -> list[dict[str, Any]]:
    """A model at this address, and the one that answers instead of it."""
    large = {"name": "large", "backend": "vllm", "urls": [url], "chat_template": "toolwire/hermes", "fallback": "small"}
    turns = [{"match": None, "text": "From the small one."}]
    limits = {"tokenizer": str(byte_level(folder / "tokenizer")), "chat_template": "toolwire/hermes", "context": 1000}
    return [{**large, "pool": {"health": {"interval": 0.2}}}, replay_model(folder, turns, name="small", **limits)]


@pytest.fixture(scope="module")
def gone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway whose engine has died."""
    folder = tmp_path_factory.mktemp("fallback")
    root = str(byte_level(folder / "tokenizer"))
    with engine_processes(1, root=root) as (engine,), serving({"models": entries(folder, engine.url)}) as gateway:
        engine.kill()
        yield gateway


@pytest.fixture(scope="module")
def never(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway whose engine was never there."""
    folder = tmp_path_factory.mktemp("never")
    with serving({"models": entries(folder, NOBODY)}) as gateway:
        yield gateway


@pytest.fixture(params=["gone", "never"])
def gateway(request: pytest.FixtureRequest) -> Gateway:
    found: Gateway = request.getfixturevalue(request.param)
    return found


def test_chat(gateway: Gateway) -> None:
    whole = gateway.post({"model": "large", "messages": HI})
    assert (whole.status_code, whole.json()["model"]) == (200, "small")
    assert whole.json()["choices"][0]["message"]["content"] == "From the small one."
    assert TOLD in whole.headers["x-toolwire-warnings"]
    with openai.OpenAI(base_url=gateway.base_url, api_key="none") as client:
        chunks = list(client.chat.completions.create(model="large", messages=HI, stream=True))
    assert {chunk.model for chunk in chunks} == {"small"}


def test_messages(gateway: Gateway) -> None:
    with anthropic.Anthropic(base_url=gateway.url, api_key="none") as client:
        assert client.messages.create(model="large", max_tokens=9, messages=HI).model == "small"


def test_responses(gateway: Gateway) -> None:
    with openai.OpenAI(base_url=gateway.base_url, api_key="none") as client:
        assert client.responses.create(model="large", input="hi").model == "small"
        events = list(client.responses.create(model="large", input="hi", stream=True))
    assert {event.response.model for event in events if hasattr(event, "response")} == {"small"}


@pytest.mark.parametrize(
    "demand",
    [
        {"tools": [TOOL], "tool_choice": "required"},
        {"response_format": {"type": "json_object"}},
        {"messages": [{"role": "user", "content": "word " * 300}]},
    ],
)
def test_not_where_the_other_model_cannot_do_what_is_demanded(gateway: Gateway, demand: dict[str, Any]) -> None:
    """This one's answers cannot be constrained, and its context is small."""
    refused = gateway.post({"model": "large", "messages": HI, **demand})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "backend_unavailable")
    assert int(refused.headers["retry-after"]) >= 1


def test_it_is_counted(gone: Gateway) -> None:
    before = counted(gone)
    gone.post({"model": "large", "messages": HI})
    assert counted(gone) == before + 1
    assert gone.running() == 0


def counted(gateway: Gateway) -> float:
    lines = CLIENT.get(f"{gateway.url}/metrics").text.splitlines()
    found = [line for line in lines if line.startswith('toolwire_fallbacks_total{fallback="small",model="large"}')]
    return float(found[0].split()[1]) if found else 0.0


def test_not_for_a_key_that_may_not_use_the_other_model(tmp_path: Path) -> None:
    both = issue(tmp_path / "keys.jsonl", "both")
    one = issue(tmp_path / "keys.jsonl", "one", models=("large",))
    with guarded(tmp_path, models=entries(tmp_path, NOBODY)) as gateway:
        statuses = [
            gateway.post({"model": "large", "messages": HI}, headers={"x-api-key": key}).status_code for key in (both, one)
        ]
    assert statuses == [200, 503]
