"""The exact prompt of each of our templates for one agent's conversation: the layout its models were trained on."""

from datetime import datetime
from pathlib import Path

import pytest

import chat_templates
from gateway.rendering import Renderer, Vocabulary
from tests.support.conversations import NOTE, PARIS, ROME, USER, WEATHER, WILD, result

PROMPTS = Path(__file__).parent / "prompts"
CONVERSATION = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Paris and Rome?"},
    {"role": "assistant", "content": "", "tool_calls": [PARIS, ROME]},
    result("call00001", '{"sky": "clear"}'),
    result("call00002", "rain"),
    {"role": "assistant", "content": "Clear and rain."},
    USER,
    {"role": "assistant", "content": "I note it.", "reasoning_content": "Write.", "tool_calls": [WILD]},
    result("call00003", "done"),
]


@pytest.mark.parametrize("name", chat_templates.names())
def test_layout(name: str) -> None:
    special = Vocabulary({"bos_token": "<bos>", "eos_token": "<eos>"})
    renderer = Renderer(chat_templates.load(name), special, clock=lambda: datetime(2025, 6, 1))
    prompt = renderer.render(CONVERSATION, [WEATHER, NOTE])
    assert prompt.text == (PROMPTS / f"{name}.txt").read_text(encoding="utf-8")
    assert prompt.warnings == ()
