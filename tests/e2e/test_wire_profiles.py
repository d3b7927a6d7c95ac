"""What a client gets where clients want opposite things: as its key says, else as the model's entry does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.support.keys import guarded, issue
from tests.support.planned import hermes_call
from tests.support.server import CLIENT, Gateway, replay_model

TURNS = [
    {"match": "call", "text": f"<think>\nWhich?\n</think>\n\n{hermes_call('f', {})}"},
    {"match": None, "text": "<think>\nHm.\n</think>\n\nHello!"},
]
TOOLS: Any = [{"type": "function", "function": {"name": "f"}}]
NAMED: Any = {"type": "function", "function": {"name": "f"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wire")


@pytest.fixture(scope="module")
def keys(folder: Path) -> dict[str, str]:
    wires = {"plain": None, "modern": "openai", "old": "legacy-ui"}
    return {name: issue(folder / "keys.jsonl", name, wire=wire) for name, wire in wires.items()}


@pytest.fixture(scope="module")
def gateway(folder: Path, keys: dict[str, str]) -> Iterator[Gateway]:
    models = [replay_model(folder, TURNS, name="usual"), replay_model(folder, TURNS, name="for-old", wire="legacy-ui")]
    with guarded(folder, models=models) as running:
        yield running


@pytest.mark.parametrize(
    ("key", "model", "old"),
    [
        ("plain", "usual", False),
        ("plain", "for-old", True),
        ("modern", "for-old", False),
        ("old", "usual", True),
    ],
)
def test_the_key_decides_else_the_model(gateway: Gateway, keys: dict[str, str], key: str, model: str, old: bool) -> None:
    with openai.OpenAI(base_url=gateway.base_url, api_key=keys[key], max_retries=0) as client:
        messages: Any = [{"role": "user", "content": "hi"}]
        said = client.chat.completions.create(model=model, messages=messages).choices[0].message
        assert said.content == ("<think>\nHm.\n</think>\n\nHello!" if old else "Hello!")
        assert hasattr(said, "reasoning") is not old
        chunks = list(client.chat.completions.create(model=model, messages=messages, stream=True))
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == said.content
        assert [chunk.usage is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [old]
        asked: Any = [{"role": "user", "content": "call"}]
        called = client.chat.completions.create(model=model, messages=asked, tools=TOOLS, tool_choice=NAMED).choices[0]
        assert called.finish_reason == ("tool_calls" if old else "stop")
        assert called.message.tool_calls


def test_an_unknown_wire_is_refused(folder: Path) -> None:
    with pytest.raises(Exception, match="wire"):
        issue(folder / "other.jsonl", "other", wire="ancient")


def test_other_protocols_know_no_such_points(gateway: Gateway, keys: dict[str, str]) -> None:
    body = {"model": "usual", "input": "hi"}
    answers = [
        CLIENT.post(f"{gateway.base_url}/responses", json=body, headers={"x-api-key": keys[key]}).json()["output"]
        for key in ("modern", "old")
    ]
    assert [[item["type"] for item in output] for output in answers] == [["reasoning", "message"]] * 2
