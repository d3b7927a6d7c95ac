"""What the check says of good and of broken templates, in the words of its ids."""

import json
from typing import Any

import pytest

import chat_templates
import parsers
from gateway.checking import Report, Subject, broken, check
from gateway.checking.acceptance import accepts
from gateway.rendering import Renderer, Vocabulary

SPECIAL = Vocabulary({"bos_token": "<s>", "eos_token": "</s>"})
HEAD = "{% if tools %}{{ tools | tojson }}{% endif %}"
TAIL = "{% if add_generation_prompt %}<assistant>{% endif %}"
CALL = "{{ c.function.arguments | tojson }}"
IDS = {f"T00{n}" for n in range(1, 7)} | {"P050", "P051", "P052", "S060", "S061"}
IDS |= (
    {f"R01{n}" for n in range(7)} | {f"R02{n}" for n in range(3)} | {f"R03{n}" for n in range(8)} | {f"R04{n}" for n in range(5)}
)


def hermes_like(call: str = CALL, *, before: str = "<{{ m.role }}>{{ m.content or '' }}", head: str = HEAD) -> str:
    """A template that writes calls between Hermes' markers, unless told otherwise."""
    calls = (
        '{% for c in m.tool_calls or [] %}<tool_call>\n{"name": "{{ c.function.name }}", "arguments": ' + call + "}\n</tool_call>"
    )
    return head + "{% for m in messages %}" + before + calls + "{% endfor %}<|im_end|>{% endfor %}" + TAIL


def checked(template: str, wanted: str | None = None, **options: Any) -> Report:
    fmt = parsers.get(wanted) if wanted else None
    return check(Subject("it", Renderer(template, SPECIAL), fmt, **options))


def found(report: Report, check_id: str) -> tuple[str, str]:
    return next((check.status, f"{check.message} {check.remedy}") for check in report.checks if check.id == check_id)


@pytest.mark.parametrize("name", chat_templates.names())
def test_our_templates_pass(name: str) -> None:
    report = checked(chat_templates.load(name))
    assert report.format == parsers.get(name).name
    spared = ("P051", "R022", "R034")  # spelling, links and text beside calls, where the family's own layout has it so
    assert [check for check in report.checks if check.status != "pass" and check.id not in spared] == []
    assert {check.id for check in report.checks} == IDS


def test_the_json_has_these_keys_and_no_others() -> None:
    shown = json.loads(json.dumps(checked(hermes_like()).as_json()))
    assert set(shown) == {"template", "format", "verdict", "capabilities", "checks"}
    assert all(set(check) == {"id", "status", "message", "remedy"} for check in shown["checks"])
    assert shown["capabilities"]["arguments"] == "mapping"


@pytest.mark.parametrize(
    ("template", "check_id", "status", "told"),
    [
        (hermes_like().replace("<tool_call>", "¡").replace('arguments"', 'given"'), "P050", "fail", "no format reads back"),
        (hermes_like(before="<{{ m.role }}>"), "R010", "fail", "not shown"),
        (hermes_like(head=""), "R020", "fail", "dropped without a word"),
        (
            HEAD + "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% endfor %}" + TAIL,
            "R030",
            "warn",
            "drops the calls",
        ),
        (
            hermes_like(before="<{{ m.role }}>{% if not m.tool_calls %}{{ m.content }}{% endif %}"),
            "R034",
            "warn",
            "dropped, with a warning",
        ),
        (hermes_like(head=HEAD + "{{ unknown_thing.x }}{{ nobody(1) if false }}"), "T002", "fail", "nobody (line 1)"),
        (hermes_like("{{ 1 | no_such_filter if true }}"), "T003", "warn", "no_such_filter (line 2)"),
        (hermes_like("{% if c.x %}{{ 1 | no_such_filter }}{% endif %}" + CALL), "T003", "pass", "does not reach them"),
        (hermes_like(head=HEAD + "{{ range(10) | random }}{{ range(99999) | random }}"), "R044", "warn", "differ"),
    ],
)
def test_a_fault_is_told(template: str, check_id: str, status: str, told: str) -> None:
    seen, text = found(checked(template), check_id)
    assert seen == status
    assert told in text


@pytest.mark.parametrize(
    ("template", "check_id", "line"),
    [("a\n{% if %}", "T001", "line 2"), ("a\n{{ 1 | no_such_filter }}", "T003", "line 2")],
)
def test_what_does_not_compile_is_told_with_its_line(template: str, check_id: str, line: str) -> None:
    report = broken("it", template)
    assert report is not None
    assert (report.verdict, report.format) == ("fail", None)
    assert line in found(report, check_id)[1]
    assert report.refusal is not None


def test_a_configured_format_that_fails_is_told_the_other() -> None:
    report = checked(hermes_like(), "glm47")
    assert report.refusal is not None
    assert "hermes does. Set parser: hermes" in found(report, "P050")[1]


def test_calls_that_are_dropped_are_guessed_by_the_markers() -> None:
    template = HEAD + "Write <|tool_calls_section_begin|>.{% for m in messages %}{{ m.content or '' }}{% endfor %}"
    report = checked(template)
    assert report.format is None
    assert "set parser: kimi_k2." in found(report, "P050")[1]  # none of ours has the layout of this template


def test_a_template_that_tells_otherwise_than_it_writes() -> None:
    call = '{"name": "{{ c.function.name }}", "parameters": {{ c.function.arguments | tojson }}}'
    body = "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}" + call
    report = checked(HEAD + "Write functools[...]." + body + "{% endfor %}{% endfor %}" + TAIL)
    assert report.format == "llama3_json"
    assert "Set parser: phi4_mini" in found(report, "P050")[1]


def test_a_format_that_cannot_be_proved_is_no_refusal() -> None:
    report = checked(HEAD + "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% endfor %}" + TAIL, "hermes")
    assert (report.format, report.refusal) == ("hermes", None)
    assert found(report, "P050")[0] == "warn"


def test_an_engine_that_takes_text_is_warned_of() -> None:
    assert found(checked(hermes_like(), sends="text"), "S060")[0] == "warn"
    assert found(checked(hermes_like()), "S060")[0] == "pass"


@pytest.mark.parametrize("dialect", ["lark", "structural_tag"])
def test_the_grammar_tells_right_from_wrong(dialect: Any) -> None:
    tool = parsers.Tool("f", "", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    limit = parsers.constraint(parsers.get("hermes"), [tool], "required", dialect=dialect)
    right = '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'
    if accepts(dialect, limit, right) is None:
        pytest.skip("its library is not installed")
    assert accepts(dialect, limit, right) is True
    assert accepts(dialect, limit, right.replace("1", '"x"')) is False
    assert accepts(dialect, limit, right.removesuffix("</tool_call>")) is False
