"""What the check proposes: a template of ours only where it lays a conversation out as the model knows it."""

from typing import Any

import pytest

from gateway.checking import Report, Subject, check
from gateway.checking.ours import of_its_layout
from gateway.rendering import Renderer, Vocabulary
from gateway.rendering.environment import Template

SPECIAL = Vocabulary({"bos_token": "<s>", "eos_token": "</s>"})
TOOLS = "{% if tools %}{{ tools | tojson }}{% endif %}"


def chatml(*, head: str = TOOLS, calls: str = "", role: str = "<|im_start|>{{ m.role }}\n", end: str = "<|im_end|>\n") -> str:
    """A ChatML template, with these tools and calls, or another in its manner."""
    body = "{% for m in messages %}" + role + "{{ m.content or '' }}" + calls + end + "{% endfor %}"
    return head + body + "{% if add_generation_prompt %}" + role.replace("{{ m.role }}", "assistant") + "{% endif %}"


HERMES = (
    "{% for c in m.tool_calls or [] %}<tool_call>{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}"
    "</tool_call>{% endfor %}"
)
PYTHONIC = (
    "{% for c in m.tool_calls or [] %}[{{ c.function.name }}({% for k, v in c.function.arguments | items %}{{ k }}={{ v }}"
    "{% if not loop.last %}, {% endif %}{% endfor %})]{% endfor %}"
)


def checked(template: str) -> Report:
    return check(Subject("it", Renderer(template, SPECIAL)))


def remedy(report: Report, check_id: str) -> str:
    return next(check.remedy for check in report.checks if check.id == check_id)


@pytest.mark.parametrize(
    ("template", "ours"),
    [
        (chatml(), ["toolwire/hermes", "toolwire/qwen3_coder"]),
        (chatml(role="<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n", end="<|eot_id|>"), ["toolwire/llama3_json"]),
        (chatml(role="<|of|>{{ m.role }}<|end_of|>"), []),
        ("{{ raise_exception('never') }}", []),
    ],
    ids=["ChatML", "Llama", "unknown", "refuses"],
)
def test_ours_of_the_same_layout(template: str, ours: list[str]) -> None:
    assert [name for name in of_its_layout(Template(template, variables=SPECIAL.special)) if name in ours] == ours
    assert bool(ours) == bool(of_its_layout(Template(template, variables=SPECIAL.special)))


@pytest.mark.parametrize(
    ("template", "check_id", "told"),
    [
        (chatml(head="", calls=HERMES), "R020", "Serve it with chat_template: toolwire/hermes."),
        (chatml(head="", calls=HERMES, role="<|of|>{{ m.role }}<|end_of|>"), "R020", "correct it in a copy"),
        (chatml(head=""), "R020", "serve it with chat_template: toolwire/hermes or toolwire/qwen3_coder"),
        (chatml(head=""), "P050", "serve it with chat_template: toolwire/hermes or toolwire/qwen3_coder"),
        (chatml(), "P050", "Set parser to the format that the model writes"),
        (chatml(head=TOOLS + "Write <tool_call>."), "P050", "set parser: hermes and chat_template: toolwire/hermes"),
        (chatml(calls=PYTHONIC), "P050", "Set parser: llama4_pythonic"),
    ],
)
def test_what_to_do(template: str, check_id: str, told: str) -> None:
    assert told in remedy(checked(template), check_id)


def test_of_several_families_the_one_that_is_spelled_whole_is_named() -> None:
    words = "Write <tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>."
    assert "set parser: glm4" in remedy(checked(chatml(head=TOOLS + words)), "P050")


def test_a_call_that_is_nearly_one_is_shown_beside_it() -> None:
    found = next(entry for entry in checked(chatml(calls=PYTHONIC)).checks if entry.id == "P050")
    assert found.status == "fail"
    assert "[look_up(word=plain)]" in found.message
    assert '[look_up(word="plain")]' in found.message


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (HERMES, "pass"),
        (HERMES.replace("<tool_call>{{", " <tool_call>\n\n  {{"), "pass"),
        (HERMES.replace("c.function.arguments}", "c.function.arguments, 'id': c.id}"), "pass"),
        (HERMES.replace("'name': c.function.name, 'arguments': c.function.arguments", "'arguments': {}, 'name': ''"), None),
        (
            HERMES.replace("{'name'", "{'arguments': c.function.arguments, 'name'").replace(
                ", 'arguments': c.function.arguments}", "}"
            ),
            "warn",
        ),
    ],
    ids=["as it is", "white space", "ids", "unreadable", "keys in another order"],
)
def test_only_another_spelling_of_forced_calls_is_warned_of(call: str, status: Any) -> None:
    report = checked(chatml(calls=call))
    found = next(entry for entry in report.checks if entry.id == "P051")
    if status is None:
        assert report.format is None
    else:
        assert (report.format, found.status) == ("hermes", status), found.message


def test_a_template_that_always_opens_the_turn_has_its_generation_prompt() -> None:
    always = chatml().replace("{% if add_generation_prompt %}", "").removesuffix("{% endif %}") + "<think></think>"
    never = chatml().partition("{% if add_generation_prompt %}")[0]
    statuses = [entry.status for text in (always, never) for entry in checked(text).checks if entry.id == "R040"]
    assert statuses == ["pass", "warn"]


def test_a_macro_is_no_unknown_name() -> None:
    template = "{% if tools %}{% macro shown(t) %}{{ t | tojson }}{% endmacro %}{{ shown(tools) }}{% endif %}"
    used = template + chatml(head="") + "{% if tools and false %}{{ shown(tools) }}{% endif %}"
    assert next(entry.status for entry in checked(used).checks if entry.id == "T002") == "pass"
