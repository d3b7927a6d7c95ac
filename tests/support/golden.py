"""Prompts that transformers itself rendered, and the conversations behind them: a folder beside the checkout, where there is one.

`prompts.jsonl` holds a line a prompt: `template`, `case`, `kwargs` (`add_generation_prompt`, `enable_thinking`, `thinking`),
`args_form` (`dict` or `string`), and `prompt` or `error`. `cases.json` holds the conversations, and `templates`, in the folder or
beside it, the templates by name. The clock stood at 2025-06-01T12:00.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from gateway.rendering.environment import RenderFailure, Template

CHECKOUT = Path(__file__).parents[2]
NOW = datetime(2025, 6, 1, 12)
VARIABLE = "TOOLWIRE_GOLDEN"
ABSENT = f"no golden prompts: {VARIABLE} names no folder with prompts.jsonl, cases.json and templates"
# The file does not say with which special tokens its prompts were made: the first pair that fits all prompts of a template.
SPECIAL = [
    ("<s>", "</s>"),
    ("<|begin_of_text|>", "<|eot_id|>"),
    ("<bos>", "<eos>"),
    ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"),
    ("<|startoftext|>", "<|im_end|>"),
    ("<|endoftext|>", "<|endoftext|>"),
    ("<|im_start|>", "<|im_end|>"),
    ("", "<|im_end|>"),
    ("", ""),
]


@dataclass(frozen=True)
class Golden:
    """One prompt; `prompt` is None where transformers refused."""

    template: str
    case: str
    arguments: str
    generation: bool
    options: Mapping[str, Any]
    prompt: str | None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """A copy of the conversation, its arguments as the prompt's maker gave them."""
        messages: list[dict[str, Any]] = json.loads(json.dumps(_cases()[self.case]["messages"]))
        for call in (call for message in messages for call in message.get("tool_calls") or ()):
            if self.arguments == "string":
                call["function"]["arguments"] = json.dumps(call["function"]["arguments"], ensure_ascii=False)
        return messages

    @property
    def tools(self) -> list[dict[str, Any]]:
        return json.loads(json.dumps(_cases()[self.case]["tools"] or []))

    def official(self, template: Template) -> str | None:
        """What the template makes of it in our sandbox, as it came."""
        return rendered(template, self.messages, self.tools, self)


def rendered(template: Template, messages: list[dict[str, Any]], tools: list[dict[str, Any]], golden: Golden) -> str | None:
    """The prompt, or None where the template refuses."""
    try:
        return template.render(messages, tools, generation=golden.generation, extra=golden.options)
    except RenderFailure:
        return None


def folder() -> Path | None:
    """Where the prompts are: what the environment names, or a folder beside the checkout."""
    named = os.environ.get(VARIABLE)
    places = [Path(named)] if named else [CHECKOUT.parent / "shared" / "golden", CHECKOUT.parent / "golden"]
    return next((place for place in places if (place / "prompts.jsonl").is_file()), None)


@cache
def by_template() -> dict[str, list[Golden]]:
    """All prompts; empty where there is no folder."""
    found: dict[str, list[Golden]] = {}
    for golden in _prompts():
        found.setdefault(golden.template, []).append(golden)
    return found


def source(name: str) -> str:
    """A template's text."""
    return next(path for path in templates() if path.stem == name).read_text(encoding="utf-8")


@cache
def templates() -> tuple[Path, ...]:
    """The templates' files; none where there is no folder."""
    home = folder()
    places = [home / "templates", home.parent / "templates"] if home else []
    return tuple(path for place in places for path in sorted(place.glob("*.jinja")))


@cache
def special_tokens(name: str) -> dict[str, str]:
    """The first pair with which all of a template's prompts come out."""
    prompts, text = by_template()[name], source(name)

    def fits(pair: tuple[str, str]) -> bool:
        template = Template(text, variables=variables(pair), clock=lambda: NOW)
        return all(golden.official(template) == golden.prompt for golden in prompts)

    return variables(next(filter(fits, SPECIAL), SPECIAL[0]))


def variables(pair: tuple[str, str]) -> dict[str, str]:
    return dict(zip(("bos_token", "eos_token"), pair, strict=True))


def _prompts() -> Iterator[Golden]:
    home = folder()
    if home is None:
        return
    for line in (home / "prompts.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        options = dict(row["kwargs"])
        generation = options.pop("add_generation_prompt")
        yield Golden(row["template"], row["case"], row["args_form"], generation, options, row.get("prompt"))


@cache
def _cases() -> dict[str, Any]:
    cases: dict[str, Any] = json.loads(((folder() or CHECKOUT) / "cases.json").read_text(encoding="utf-8"))
    return cases
