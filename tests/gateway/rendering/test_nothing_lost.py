"""A law of our templates: whatever a client wrote stands in the prompt, in whatever order it was told."""

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chat_templates
from gateway.chat.history import heal
from gateway.rendering import Renderer, Vocabulary
from parsers import Tool

SPECIAL = Vocabulary({"bos_token": "<s>", "eos_token": "</s>"})
RENDERERS = {
    name: Renderer(chat_templates.load(name), SPECIAL, clock=lambda: datetime(2025, 6, 1)) for name in chat_templates.names()
}
# Words without what JSON escapes and what templates trim; the number behind each makes it one of its kind.
WORDS = st.text(st.sampled_from("abcXYZ é東🎉ßΩ<>&[]{}()|=:;,.'`~#%$/-_0"), min_size=1, max_size=12).map(
    lambda word: word.strip() or "w"
)
VALUES = st.recursive(
    st.one_of(WORDS, st.integers(10_000, 10**18)),
    lambda inner: st.one_of(st.lists(inner, min_size=1, max_size=2), st.dictionaries(st.just("key"), inner, min_size=1)),
    max_leaves=3,
)


class Written:
    """What a client wrote: each text once, to be looked for."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers = count(100)

    def word(self, word: str) -> str:
        self.texts.append(f"{word}{next(self._numbers)}q")
        return self.texts[-1]

    def value(self, value: Any) -> Any:
        """The value with its words made unique."""
        if isinstance(value, str):
            return self.word(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.name("key"): self.value(item) for item in value.values()}
        self.texts.append(str(value))
        return value

    def name(self, kind: str) -> str:
        self.texts.append(f"{kind}_{next(self._numbers)}q")
        return self.texts[-1]


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[Tool], list[str]]:
    """A conversation that ends with a question or a result, the tools beside it, and every text in both."""
    written = Written()
    messages = [{"role": "system", "content": written.word(draw(WORDS))}] if draw(st.booleans()) else []
    for last in (*[False] * draw(st.integers(0, 2)), True):
        messages.append({"role": "user", "content": written.word(draw(WORDS))})
        for _ in range(draw(st.integers(0, 2))):
            messages += draw_calls(draw, written)
        if not last:
            messages.append({"role": "assistant", "content": written.word(draw(WORDS))})
    return messages, list(draw_tools(draw, written)), written.texts


def draw_calls(draw: st.DrawFn, written: Written) -> list[dict[str, Any]]:
    """One to three calls, perhaps with a text beside them, and their results in any order."""
    calls = []
    for _ in range(draw(st.integers(1, 3))):
        arguments = {written.name("field"): written.value(draw(VALUES)) for _ in range(draw(st.integers(0, 2)))}
        given = json.dumps(arguments, ensure_ascii=False) if draw(st.booleans()) else arguments
        name = written.name("tool")
        calls.append({"id": f"id{name[5:8]}fgh0", "type": "function", "function": {"name": name, "arguments": given}})
    results = [{"role": "tool", "tool_call_id": call["id"], "content": written.word(draw(WORDS))} for call in calls]
    text = written.word(draw(WORDS)) if draw(st.booleans()) else None
    return [{"role": "assistant", "content": text, "tool_calls": calls}, *draw(st.permutations(results))]


def draw_tools(draw: st.DrawFn, written: Written) -> Iterator[Tool]:
    for _ in range(draw(st.integers(0, 2))):
        properties = {written.name("option"): {"type": "string", "description": written.word(draw(WORDS))} for _ in range(2)}
        yield Tool(written.name("tool"), written.word(draw(WORDS)), {"type": "object", "properties": properties})


@pytest.mark.parametrize("name", RENDERERS)
@settings(max_examples=25, deadline=None)
@given(told=conversations())
def test_everything_that_was_written_is_shown(name: str, told: tuple[list[dict[str, Any]], list[Tool], list[str]]) -> None:
    messages, tools, written = told
    healed = heal(messages)
    prompt = RENDERERS[name].render(healed.messages, tools)
    assert [text for text in written if text not in prompt.text] == []
    assert prompt.warnings == ()
