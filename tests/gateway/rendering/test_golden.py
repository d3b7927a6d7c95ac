"""Against prompts that transformers rendered: our sandbox gives the same bytes, and our renderer too but where it must not.

Where the renderer differs, its prompt is the official one of an amended conversation: `golden/differences.json` names each
template's amendments, docs/templates.md the reasons. Skipped where the prompts are not at hand; `test_layout.py` holds the layout
of our own templates and needs none of them.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gateway.errors import UnrenderableChat
from gateway.rendering import Renderer, Vocabulary
from gateway.rendering.environment import Template
from parsers import Tool
from tests.support import golden
from tests.support.amendments import Asked, amended
from tests.support.golden import Golden

PROMPTS = golden.by_template()
KNOWN: dict[str, list[str]] = json.loads((Path(__file__).parent / "golden" / "differences.json").read_text(encoding="utf-8"))
REFUSED = "tools_refused"
pytestmark = pytest.mark.skipif(not PROMPTS, reason=golden.ABSENT)


@cache
def compiled(name: str, *, null_tools: bool = True, variable: str = "tools") -> Template:
    template = Template(golden.source(name), variables=golden.special_tokens(name), clock=lambda: golden.NOW)
    template.null_tools = null_tools
    template.tools_variable = variable
    return template


@pytest.mark.parametrize("name", PROMPTS)
def test_the_sandbox_renders_what_transformers_does(name: str) -> None:
    template = compiled(name)
    assert [prompt for prompt in PROMPTS[name] if prompt.official(template) != prompt.prompt] == []


@pytest.mark.parametrize("name", PROMPTS)
def test_the_renderer_differs_only_where_it_must(name: str) -> None:
    found = sorted({amendment for prompt, told in rendered(name) for amendment in explained(name, prompt, told)})
    if name in KNOWN:
        assert found == KNOWN[name]


def rendered(name: str) -> Iterator[tuple[Golden, str | None]]:
    """Every prompt beside the renderer's own; None where it refuses."""
    renderer = Renderer(golden.source(name), Vocabulary(golden.special_tokens(name)), clock=lambda: golden.NOW)
    for prompt in PROMPTS[name]:
        tools = [Tool.of(tool) for tool in prompt.tools]
        try:
            if prompt.generation:
                yield prompt, renderer.render(prompt.messages, tools, prompt.options).text
            else:
                yield prompt, renderer.history(prompt.messages, tools)
        except UnrenderableChat:
            yield prompt, None


def explained(name: str, prompt: Golden, told: str | None) -> tuple[str, ...]:
    """The amendments under which the official prompt is the renderer's."""
    if told == prompt.prompt:
        return ()
    if told is None:
        assert prompt.tools[0]["function"]["description"] not in (prompt.prompt or ""), (name, prompt.case)
        return (REFUSED,)
    for names, asked in amended(Asked(prompt.messages, prompt.tools)):
        template = compiled(name, null_tools=asked.null_tools, variable=asked.variable)
        if golden.rendered(template, asked.messages, asked.tools, prompt) == told:
            return names
    pytest.fail(f"{name}, {prompt.case} ({prompt.arguments}): no amendment explains {told!r} for {prompt.prompt!r}")
