"""What is remembered between renders changes nothing, and is bounded."""

from collections import Counter
from contextvars import copy_context
from typing import Any

import pytest

import chat_templates
from gateway.middleware.caller import Caller, caller
from gateway.rendering import Renderer, Vocabulary, memory
from gateway.rendering.memory import Remembered
from gateway.settings.keys import ApiKey, hash_of
from parsers import Tool
from tests.support.conversations import CONVERSATIONS, NOTE, WEATHER


def test_each_text_is_encoded_once() -> None:
    asked: Counter[str] = Counter()

    def encode(text: str) -> list[int]:
        asked[text] += 1
        return [ord(letter) for letter in text]

    remembered = Remembered(encode)
    assert [list(remembered(text)) for text in ("ab", "c", "ab")] == [[97, 98], [99], [97, 98]]
    assert asked == {"ab": 1, "c": 1}


def test_the_oldest_texts_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CHARACTERS", 10)
    asked: list[str] = []
    remembered = Remembered(lambda text: asked.append(text) or [1])  # type: ignore[func-returns-value]
    for text in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb", "d" * 11, "d" * 11):
        remembered(text)
    assert asked == ["aaaa", "bbbb", "cccc", "bbbb", "d" * 11, "d" * 11]


def test_keys_do_not_share_what_is_remembered() -> None:
    asked: list[str] = []
    remembered = Remembered(lambda text: asked.append(text) or [1])  # type: ignore[func-returns-value]

    def ask(name: str | None) -> None:
        caller.set(None if name is None else Caller(ApiKey(name=name, hash=hash_of(name))))
        remembered("a secret")

    for name in ("alice", "bob", "alice", None, "bob", None):
        copy_context().run(ask, name)
    assert asked == ["a secret"] * 3


@pytest.mark.parametrize("name", ["hermes", "deepseek_v31", "deepseek_v32", "mistral"])
def test_prompts_are_those_of_a_fresh_renderer(name: str) -> None:
    vocabulary = Vocabulary({"bos_token": "<s>", "eos_token": "</s>"})
    source = chat_templates.load(name)
    used = Renderer(source, vocabulary)
    options: list[dict[str, Any]] = [{}, {"enable_thinking": False}]
    for messages in CONVERSATIONS.values():
        for tools in ((WEATHER,), (Tool("get_weather", "Otherwise."), NOTE)):
            for chosen in options:
                fresh, again = (one.render(messages, tools, chosen) for one in (Renderer(source, vocabulary), used))
                assert (again.text, again.opening) == (fresh.text, fresh.opening)
