"""Our templates for models whose official prompts are made by code render the same bytes as that code.

`official.json` holds digests of what the code made of our exchanges: DeepSeek's encoders, which stand beside the weights,
Mistral's `mistral-common` and gpt-oss' `openai-harmony`. `make test-tokenizers` asks the libraries themselves.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import chat_templates
from gateway.rendering import Renderer, Vocabulary
from parsers import Tool
from tests.support import official
from tests.support.exchanges import EXCHANGES, TOOLS

FACTS = Path(__file__).parent / "official.json"
SPECIAL = {"deepseek": ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"), "mistral": ("<s>", "</s>"), "harmony": ("", "")}
PACKAGED = ["mistral_v3", "mistral_nemo", "mistral_v7", "mistral_v11", "mistral", "harmony"]
BESIDE_WEIGHTS = ["deepseek_v32", "deepseek_v4"]
DIFFERENT = {
    (
        "harmony",
        "earlier thoughts and calls",
    ): "thinking that an answer ended is left out; the library shows it again once calls follow",
}
"""What we render otherwise on purpose."""


def digests() -> dict[str, dict[str, str]]:
    """By template and variant of a case."""
    found: dict[str, dict[str, str]] = json.loads(FACTS.read_text(encoding="utf-8"))
    return found


def requests(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every exchange without and with tools, and where there is a switch without and with thinking."""
    for case, messages in EXCHANGES.items():
        for tools in ([], TOOLS):
            for thinking in (False, True) if name in BESIDE_WEIGHTS else (False,):
                label = f"{case}{', tools' if tools else ''}{', thinking' if thinking else ''}"
                yield label, {"renderer": name, "messages": messages, "tools": tools, "thinking": thinking}


def ours(name: str, request: dict[str, Any]) -> str:
    bos, eos = SPECIAL[name.partition("_")[0]]
    renderer = Renderer(
        chat_templates.load(name), Vocabulary({"bos_token": bos, "eos_token": eos}), clock=lambda: datetime(2025, 6, 1)
    )
    tools = [Tool.of(tool) for tool in request["tools"]]
    return renderer.render(request["messages"], tools, {"thinking": request["thinking"]}).text


def digest(prompt: str) -> str:
    return hashlib.sha256(prompt.encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", [*PACKAGED, *BESIDE_WEIGHTS])
def test_the_prompts_are_those_of_the_official_code(name: str) -> None:
    known = digests()[name]
    wrong = [label for label, request in requests(name) if label in known and digest(ours(name, request)) != known[label]]
    assert [label for label in wrong if (name, label.partition(",")[0]) not in DIFFERENT] == []
    assert len(known) >= 28


def test_what_differs_on_purpose_does() -> None:
    for name, case in DIFFERENT:
        known = digests()[name]
        assert all(digest(ours(name, request)) != known[label] for label, request in requests(name) if label.startswith(case))


@pytest.mark.tokenizers
@pytest.mark.parametrize("name", [*PACKAGED, *BESIDE_WEIGHTS])
def test_the_digests_are_those_of_the_official_code(name: str) -> None:
    if name in BESIDE_WEIGHTS and not os.environ.get("TOOLWIRE_DEEPSEEK_ENCODERS"):
        pytest.skip("TOOLWIRE_DEEPSEEK_ENCODERS names no folder with encoding_dsv32.py and encoding_dsv4.py")
    assert asked(name) == digests()[name]


def asked(name: str) -> dict[str, str]:
    """The digests of what the official code makes now; what it refuses has none."""
    labels, asking = zip(*requests(name), strict=True)
    answers = official.asked(asking)
    return {label: digest(answer["prompt"]) for label, answer in zip(labels, answers, strict=True) if "prompt" in answer}
