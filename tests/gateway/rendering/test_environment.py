"""Templates render as they do in transformers."""

from datetime import datetime
from typing import Any

import pytest
from transformers.utils.chat_template_utils import render_jinja_template

import chat_templates
from gateway.errors import SettingsError
from gateway.rendering.environment import RenderFailure, Template
from tests.support.conversations import CONVERSATIONS, NOTE, WEATHER

SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}
TOOLS = [
    {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
    for t in (WEATHER, NOTE)
]

# Each uses one thing that a plain jinja environment has not, or has otherwise.
SNIPPETS = [
    "{{ tools | tojson }}",
    "{{ tools | tojson(indent=2) }}",
    "{{ tools | tojson(ensure_ascii=true, separators=(',', ':'), sort_keys=true) }}",
    "{% for m in messages %}\n    {% if loop.index > 1 %}{% break %}{% endif %}\n{{ m.content }}\n{% endfor %}",
    "{% for m in messages %}{% if m.role == 'tool' %}{% continue %}{% endif %}[{{ m.role }}]{% endfor %}",
    "a{% generation %}{{ messages[0].content }}{% endgeneration %}b",
    "{% set ns = namespace(a=1) %}{% for m in messages %}{% set ns.a = ns.a + 1 %}{% endfor %}{{ ns.a }}",
    "{{ dict(a=1, b=[2]) | tojson }}{{ dict.fromkeys(['x']) | tojson }}",
    "{{ bos_token }}{{ undefined_thing }}{{ tools is none }}{{ tools is defined }}",
    "{{ messages[-1]['content'] | trim }}{{ (messages[0].content or '').split('l') | join('/') }}",
]


def theirs(text: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> str:
    rendered, _ = render_jinja_template([messages], tools=tools, chat_template=text, add_generation_prompt=True, **SPECIAL)
    return str(rendered[0])


@pytest.mark.parametrize("text", SNIPPETS)
@pytest.mark.parametrize("tools", [None, TOOLS], ids=["no tools", "tools"])
def test_snippets_render_as_in_transformers(text: str, tools: list[dict[str, Any]] | None) -> None:
    messages = CONVERSATIONS["call"]
    assert Template(text, variables=SPECIAL).render(messages, tools or (), generation=True) == theirs(text, messages, tools)


@pytest.mark.parametrize("name", chat_templates.names())
@pytest.mark.parametrize("case", ["plain", "system", "turns"])
def test_our_templates_render_as_in_transformers(name: str, case: str) -> None:
    text, messages = chat_templates.load(name), CONVERSATIONS[case]
    assert Template(text, variables=SPECIAL).render(messages, TOOLS, generation=True) == theirs(text, messages, TOOLS)


def test_the_clock_is_the_callers() -> None:
    template = Template("{{ strftime_now('%d %b %Y') }}", variables={}, clock=lambda: datetime(2024, 7, 26))
    assert template.render([], generation=True) == "26 Jul 2024"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ raise_exception('only cats') }}", "only cats"),
        ("{{ messages[0].content.nope.deeper }}", "has no attribute"),
        ("{{ messages + 1 }}", "TypeError"),
        ("{{ messages.append(1) }}", "append"),
        ("{{ ''.__class__.__mro__ }}", "__class__"),
        ("{% set ns = namespace() %}{% set ns.__init__ = 1 %}", "__init__"),
    ],
)
def test_refusals_say_why(text: str, reason: str) -> None:
    with pytest.raises(RenderFailure, match=reason):
        Template(text, variables={}).render([{"role": "user", "content": "x"}], generation=True)


def test_a_broken_template_is_refused_with_its_line() -> None:
    with pytest.raises(SettingsError, match="line 2"):
        Template("fine\n{% if %}", variables={})


def test_a_template_knows_what_it_reads() -> None:
    template = Template(
        "{% if not thinking is defined %}{% set thinking = false %}{% endif %}{{ a.b }}{{ range(2) }}", variables={}
    )
    assert template.reads == {"thinking", "a"}
    assert "b" in template.words
