"""The model families that an engine of this suite is made to speak as, and the configuration entries for that."""

from pathlib import Path
from typing import Any

import chat_templates
import parsers
from tests.e2e.vllm import install

FAMILIES = (
    "deepseek_v3",
    "deepseek_v31",
    "deepseek_v32",
    "hermes",
    "llama3_json",
    "llama4_pythonic",
    "mistral",
    "qwen3_coder",
)
# Their turns may begin with reasoning, also where a call is demanded.
THINKING = ("deepseek_v3", "hermes", "mistral", "qwen3_coder")
THOUGHT = "{%- if add_generation_prompt -%}{{- '<think>\\n\\n</think>\\n\\n' -}}{%- endif -%}"


def entry(model: str, url: str, family: str) -> dict[str, Any]:
    """A configuration entry: this engine's model, spoken to as if it were one of that family."""
    return {
        "name": f"{model}-{family}",
        "backend": "vllm",
        "urls": [url],
        "tokenizer": str(install.model_folder(model)),
        "chat_template": f"toolwire/{Path(str(parsers.get(family).template)).stem}",
        "parser": family,
        # The tokenizer is that of one model, so most of the others' markers are several of its tokens.
        "template_check": "warn",
    }


def thoughtless(given: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The entry with a template that closes the reasoning, as templates do for models told not to think.

    Noise would reason to its last token: nothing but chance ends free text.
    """
    family = given["parser"]
    if family not in THINKING:
        return given
    file = folder / f"{family}.jinja"
    file.write_text(chat_templates.load(given["chat_template"].removeprefix("toolwire/")) + THOUGHT, encoding="utf-8")
    return {**given, "chat_template": str(file)}
