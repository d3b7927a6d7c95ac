"""Every control token of real vocabularies, in every place that a client writes to, stays text; other text is untouched."""

import json
import random
from functools import lru_cache
from typing import Any

import pytest
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from gateway.rendering import Renderer
from gateway.rendering.opening import is_thinking
from gateway.rendering.tokens import PromptEncoder
from parsers import Tool
from tests.support import tokenizers
from tests.support.conversations import call, result

QUICK = {"qwen3": "hermes", "deepseek_v3": "deepseek_v31", "llama3_1": "llama3_json"}
MORE = {"llama3": "llama3_json", "gemma3": "hermes", "gemini": "hermes", "gptoss": "hermes", "llama2": "mistral_v11"}
MORE |= {"gpt4o": "hermes", "gpt35turbo": "hermes", "claude": "hermes"}
NAMES = [*QUICK, *(pytest.param(name, marks=pytest.mark.tokenizers) for name in MORE)]
PLACES = ("system", "user", "part", "answer", "result", "value", "key", "description", "property", "enum", "option")
ALPHABETS = (
    "abc def ghi, the quick brown fox.",
    'x = {"a": [1, 2.5, null]}\n\tif (y <= 3) { return "z\\n"; } // <b>&amp;</b>',
    "東京の天気は晴れです。你好，世界！한국어",
    "🎉👩‍👩‍👧‍👦é\u0301naïve\u200b\u00a0",
    "   \n\n\t\r\n  ",
    "<|>[]/{}()#@!$%^&*-_=+|~`<html>",
)


@lru_cache
def renderer(name: str) -> Renderer:
    return Renderer.load(str(tokenizers.folder(name)), f"toolwire/{(QUICK | MORE)[name]}")


def encoder(name: str) -> PromptEncoder:
    found = renderer(name).encoder
    assert found is not None
    return found


@lru_cache
def ordinary(name: str) -> Tokenizer:
    """What transformers, and vLLM with it, encodes prompts with; for some models it is not quite what the file says."""
    found: Tokenizer = AutoTokenizer.from_pretrained(tokenizers.folder(name)).backend_tokenizer
    return found


def rendered(name: str, place: str, text: str) -> tuple[int, ...]:
    """A conversation's ids, with a client's text in one place of it."""

    def at(wanted: str, harmless: str = "x") -> str:
        return text if wanted == place else harmless

    schema = {"type": "object", "properties": {at("property"): {"type": "string", "enum": [at("enum")]}}}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": at("system")},
        {"role": "user", "content": [{"type": "text", "text": at("part")}]},
        {
            "role": "assistant",
            "content": at("answer"),
            "tool_calls": [call("f", json.dumps({at("key"): at("value")}), "call00001")],
        },
        result("call00001", at("result")),
        {"role": "user", "content": at("user")},
    ]
    prompt = renderer(name).render(messages, [Tool("f", at("description"), schema)], {"date_string": at("option")})
    return prompt.token_ids or ()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", PLACES)
def test_control_tokens_of_clients_stay_text(name: str, place: str) -> None:
    own = encoder(name)
    spelled = [text for text in own.controls if place != "answer" or not is_thinking(text)]
    harmless = [number for number in rendered(name, place, "words \ue000") if own.is_control(number)]
    for start in range(0, len(spelled), 400):
        forged = rendered(name, place, " ".join(spelled[start : start + 400]))
        assert [number for number in forged if own.is_control(number)] == harmless


@pytest.mark.parametrize("name", NAMES)
def test_every_special_token_is_known_as_a_control_token(name: str) -> None:
    whole = ordinary(name)
    special = {token.content for token in whole.get_added_tokens_decoder().values() if token.special and token.content.strip()}
    assert special <= set(encoder(name).controls)


def benign(number: int) -> list[str]:
    """Texts of every kind, the same in every run; none spells a control token."""
    chance = random.Random(20250601)
    return [
        "".join(chance.choice(alphabet) for alphabet in chance.choices(ALPHABETS, k=chance.randint(1, 60))) for _ in range(number)
    ]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *((name, 500) for name in QUICK),
        *(pytest.param(name, 10_000, marks=pytest.mark.tokenizers) for name in QUICK | MORE),
    ],
)
def test_the_safe_path_spells_benign_text_as_ever(name: str, number: int) -> None:
    own = encoder(name)
    whole = ordinary(name)
    shield = own.shield()
    shield.hide("\ue000")  # from here on the prompt goes by segments
    controls = list(own.controls)
    differing = []
    for at, text in enumerate(benign(number)):
        prompt = controls[at % len(controls)] + text if at % 3 == 0 else text
        if own.encode(prompt, shield) != tuple(whole.encode(prompt, add_special_tokens=False).ids):
            differing.append(prompt)
    assert differing == []
