"""Every pitfall of templates in the wild, each as a small template, and what becomes of the conversation."""

import json
from typing import Any

import pytest

from gateway.errors import RequestError, UnrenderableChat
from gateway.rendering import Renderer, Vocabulary
from parsers import Tool
from tests.support.conversations import NOTE, PARIS, ROME, WEATHER, call, result

USER = {"role": "user", "content": "q"}
CALLS = [USER, {"role": "assistant", "content": None, "tool_calls": [PARIS]}, result("call00001", "clear")]
PARALLEL = [
    USER,
    {"role": "assistant", "content": "", "tool_calls": [PARIS, ROME]},
    result("call00001", "one"),
    result("call00002", "two"),
]


def chat(body: str, *, tools: str = "{% if tools %}{{ tools | tojson }}{% endif %}") -> str:
    """A template: the tools, then `body` for each message `m`, then the generation prompt."""
    return tools + "{% for m in messages %}" + body + "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"


def calls(arguments: str, *, before: str = "<{{ m.role }}>{{ m.content or '' }}") -> str:
    """A body that writes calls as `name arguments;`."""
    return before + "{% for c in m.tool_calls or [] %}{{ c.function.name }} " + arguments + ";{% endfor %}"


def show(template: str, messages: list[dict[str, Any]], *tools: Tool, **options: Any) -> tuple[str, tuple[str, ...]]:
    prompt = Renderer(template, Vocabulary()).render(messages, tools, options)
    return prompt.text, prompt.warnings


TO_JSON, AS_TEXT = "{{ c.function.arguments | tojson }}", "{{ c.function.arguments + '' }}"


@pytest.mark.parametrize("arguments", [TO_JSON, AS_TEXT], ids=["wants a mapping", "wants text"])
def test_arguments_have_the_form_the_template_wants(arguments: str) -> None:
    text, warnings = show(chat(calls(arguments)), CALLS)
    assert 'get_weather {"city": "Paris", "days": 2};' in text
    assert warnings == ()


def test_arguments_keep_order_and_big_numbers() -> None:
    written = '{"z": 9007199254740993, "a": 1.0, "m": {"y": [], "b": "é\\n"}}'
    messages = [USER, {"role": "assistant", "tool_calls": [call("f", written, "call00001")]}]
    assert f"f {written};" in show(chat(calls(TO_JSON)), messages)[0]


@pytest.mark.parametrize("empty", ["", "  ", None, {}])
def test_empty_arguments_are_an_empty_object(empty: Any) -> None:
    messages = [USER, {"role": "assistant", "tool_calls": [{"id": "call00001", "function": {"name": "f", "arguments": empty}}]}]
    assert "f {};" in show(chat(calls(TO_JSON)), messages)[0]


def test_broken_arguments_are_shown_as_they_are() -> None:
    messages = [USER, {"role": "assistant", "tool_calls": [call("f", '{"a": ', "call00001")]}]
    text, warnings = show(chat(calls(AS_TEXT)), messages)
    assert 'f {"a": ;' in text
    assert "messages[1].tool_calls[0].function.arguments" in warnings[0]


def test_broken_arguments_do_not_crash_a_template_that_walks_them() -> None:
    walk = "{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }}{% endfor %}"
    messages = [USER, {"role": "assistant", "tool_calls": [call("f", '{"a": ', "call00001")]}]
    text, warnings = show(chat(calls(walk)), messages)
    assert 'f arguments={"a": ;' in text
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<{{ m.role }}>{{ m.content }}", "<assistant>get_weather"),  # prints None for null
        ("<{{ m.role }}>{{ m.content + '' }}", "<assistant>get_weather"),  # fails on null
        (
            "<{{ m.role }}>{% if m.content is not none or not m.tool_calls %}{{ m.content }}{% else %}!{% endif %}",
            "<assistant>get_weather",
        ),
    ],
)
def test_content_beside_calls_is_never_printed_as_none(body: str, expected: str) -> None:
    text, _ = show(chat(calls(TO_JSON, before=body)), CALLS)
    assert expected in text


def test_a_template_that_shows_calls_only_beside_null_gets_null() -> None:
    body = (
        "<{{ m.role }}>{% if m.content is none %}{% for c in m.tool_calls %}{{ c.function.name }} "
        + TO_JSON
        + ";{% endfor %}{% else %}{{ m.content }}{% endif %}"
    )
    text, _ = show(chat(body), [USER, {"role": "assistant", "content": "", "tool_calls": [PARIS]}, result("call00001", "clear")])
    assert "get_weather {" in text


def test_lost_text_beside_calls_is_said() -> None:
    body = (
        "<{{ m.role }}>{% if m.tool_calls %}{% for c in m.tool_calls %}{{ c.function.name }}"
        + TO_JSON
        + "{% endfor %}{% else %}{{ m.content }}{% endif %}"
    )
    messages = [USER, {"role": "assistant", "content": "I look.", "tool_calls": [PARIS]}, result("call00001", "clear")]
    text, warnings = show(chat(body), messages)
    assert "I look." not in text
    assert warnings == ("The chat template drops text that stands beside tool calls in earlier turns.",)


def test_parts_become_one_text_joined_as_the_template_would() -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}]
    plain = "<{{ m.role }}>{{ m.content }}"
    spaced = (
        "<{{ m.role }}>{% if m.content is string %}{{ m.content }}"
        "{% else %}{{ m.content | map(attribute='text') | join(' ') }}{% endif %}"
    )
    assert "<user>one\ntwo" in show(chat(plain), parts)[0]
    assert "<user>one two" in show(chat(spaced), parts)[0]


def test_a_template_that_takes_only_parts_gets_parts() -> None:
    body = "<{{ m.role }}>{% for p in m.content %}{{ p.text }}{% endfor %}"
    assert "<user>q" in show(chat(body), [USER])[0]


def test_parts_that_are_no_text_are_refused_with_their_place() -> None:
    messages = [
        USER,
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "x"}}]},
    ]
    with pytest.raises(RequestError) as caught:
        show(chat("{{ m.content }}"), messages)
    assert (caught.value.param, caught.value.code) == ("messages[1].content[1].type", "invalid_value")


def test_developer_messages_are_system_messages_where_the_role_is_unknown() -> None:
    messages = [{"role": "developer", "content": "Be brief."}, USER]
    assert "<system>Be brief." in show(chat("<{{ m.role }}>{{ m.content }}"), messages)[0]
    known = "{% if m.role == 'developer' %}<dev>{% else %}<{{ m.role }}>{% endif %}{{ m.content }}"
    assert "<dev>Be brief." in show(chat(known), messages)[0]


LATE = [
    {"role": "system", "content": "one"},
    USER,
    {"role": "assistant", "content": "a"},
    {"role": "system", "content": "two"},
    USER,
]
FIRST_ONLY = "{% if m.role != 'system' or loop.first %}<{{ m.role }}>{{ m.content }}{% endif %}"
RAISES_LATE = (
    "{% if m.role == 'system' and not loop.first %}{{ raise_exception('system first') }}{% endif %}<{{ m.role }}>{{ m.content }}"
)


@pytest.mark.parametrize("body", [FIRST_ONLY, RAISES_LATE], ids=["dropped", "refused"])
def test_late_system_messages_are_moved_to_the_start(body: str) -> None:
    text, warnings = show(chat(body), LATE)
    assert text.startswith("<system>one\n\ntwo<user>q")
    assert len(warnings) == 1


def test_late_system_messages_stay_where_the_template_shows_them() -> None:
    text, warnings = show(chat("<{{ m.role }}>{{ m.content }}"), LATE)
    assert "<assistant>a<system>two" in text
    assert warnings == ()


def test_without_a_system_role_the_first_user_message_carries_it() -> None:
    body = "{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}<{{ m.role }}>{{ m.content }}"
    text, warnings = show(chat(body), [{"role": "system", "content": "Be brief."}, USER])
    assert text.startswith("<user>Be brief.\n\nq")
    assert len(warnings) == 1


def test_neighbours_are_joined_only_where_roles_must_alternate() -> None:
    alternate = "{% if loop.previtem and loop.previtem.role == m.role %}{{ raise_exception('alternate') }}{% endif %}"
    strict = alternate + "<{{ m.role }}>{{ m.content }}"
    twice = [USER, {"role": "user", "content": "r"}]
    text, warnings = show(chat(strict), twice)
    assert text.startswith("<user>q\n\nr<assistant>")
    assert len(warnings) == 1
    assert show(chat("<{{ m.role }}>{{ m.content }}"), twice)[0].startswith("<user>q<user>r")


ONE_CALL = "{% if m.tool_calls and m.tool_calls | length > 1 %}{{ raise_exception('one call') }}{% endif %}" + calls(TO_JSON)


def test_parallel_calls_are_told_one_by_one_where_only_one_fits() -> None:
    text, warnings = show(chat(ONE_CALL), PARALLEL)
    assert '"Paris", "days": 2};<tool>one<assistant>get_weather {"city": "Rome"};<tool>two' in text
    assert len(warnings) == 1


def test_parallel_calls_stay_together_where_they_fit() -> None:
    text, warnings = show(chat(calls(TO_JSON)), PARALLEL)
    assert ';get_weather {"city": "Rome"};<tool>one<tool>two' in text
    assert warnings == ()


NINE = (
    calls("{% if c.id | length != 9 %}{{ raise_exception('nine') }}{% endif %}[{{ c.id }}]" + TO_JSON) + "({{ m.tool_call_id }})"
)
LAST_NINE = calls("[{{ c.id[-9:] }}]" + TO_JSON) + "({{ (m.tool_call_id or '')[-9:] }})"


@pytest.mark.parametrize("body", [NINE, LAST_NINE], ids=["refused", "cut"])
def test_foreign_ids_are_hashed_to_nine_characters(body: str) -> None:
    foreign = "call_" + "x" * 30
    messages = [USER, {"role": "assistant", "content": "", "tool_calls": [{**PARIS, "id": foreign}]}, result(foreign, "clear")]
    text, _ = show(chat(body), messages)
    shown = text.partition("[")[2].partition("]")[0]
    assert len(shown) == 9
    assert shown.isalnum()
    assert f"({shown})" in text
    assert text == show(chat(body), messages)[0]
    assert "[call00001]" in show(chat(body), CALLS)[0]  # already of that kind


COUNTED = (
    "{% set seen = namespace(ids=[]) %}"
    "{% for m in messages %}{% for c in m.tool_calls or [] %}{% set seen.ids = seen.ids + [c.id] %}{% endfor %}{% endfor %}"
    "{% set at = namespace(n=0) %}{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    '{% for c in m.tool_calls or [] %}["{{ at.n }}" {{ c.function.name }} {{ c.function.arguments | tojson }}]'
    "{% set at.n = at.n + 1 %}{% endfor %}"
    "{% if m.role == 'tool' %}(\"{{ seen.ids.index(m.tool_call_id) }}\"){% endif %}{% endfor %}"
)


def test_a_template_that_counts_calls_finds_the_result_of_each_though_clients_use_an_id_again() -> None:
    turn = {"role": "assistant", "content": "", "tool_calls": [{**PARIS, "id": "call_0"}]}
    messages = [USER, turn, result("call_0", "clear"), USER, turn, result("call_0", "rain")]
    text, _ = show(COUNTED, messages)
    assert '<tool>clear("0")' in text
    assert '<tool>rain("1")' in text


def test_ids_are_left_alone_elsewhere() -> None:
    messages = [USER, {"role": "assistant", "content": "", "tool_calls": [{**PARIS, "id": "call_abc-1"}]}]
    assert "[call_abc-1]" in show(chat(calls("[{{ c.id }}]" + TO_JSON)), messages)[0]


def test_results_carry_the_name_of_their_function() -> None:
    assert "<tool:get_weather>clear" in show(chat(calls(TO_JSON, before="<{{ m.role }}:{{ m.name }}>{{ m.content }}")), CALLS)[0]


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
@pytest.mark.parametrize("given", ["reasoning_content", "reasoning"])
def test_reasoning_has_the_name_the_template_reads(key: str, given: str) -> None:
    body = "<{{ m.role }}>{% if m." + key + " is defined %}({{ m." + key + " }}){% endif %}{{ m.content }}"
    assert "(Hm.)a" in show(chat(body), [USER, {"role": "assistant", "content": "a", given: "Hm."}, USER])[0]


def test_tools_keep_their_order_and_get_missing_fields() -> None:
    text, _ = show(chat("<{{ m.role }}>{{ m.content }}"), [USER], NOTE, WEATHER, Tool("bare"))
    tools = json.loads(text.partition("<user>")[0])
    assert [tool["function"]["name"] for tool in tools] == ["write_note", "get_weather", "bare"]
    assert tools[2]["function"] == {"name": "bare", "parameters": {"type": "object", "properties": {}}}
    wants = (
        "{% for t in tools or [] %}{{ t.function.name + t.function.description }}{{ t.function.parameters | tojson }}{% endfor %}"
    )
    assert show(chat("<{{ m.role }}>{{ m.content }}", tools=wants), [USER], Tool("bare"))[0].startswith('bare{"type"')


def test_a_template_that_ignores_tools_is_not_sent_any() -> None:
    deaf = chat("<{{ m.role }}>{{ m.content }}", tools="")
    assert show(deaf, [USER])[0] == "<user>q<assistant>"
    with pytest.raises(UnrenderableChat, match="toolwire/<name>"):
        show(deaf, [USER], WEATHER)


def test_without_tools_the_variable_is_null_or_missing_as_the_template_can_stand() -> None:
    assert show(chat("{{ m.content }}", tools="{{ tools is none }}"), [USER])[0].startswith("True")
    assert show(chat("{{ m.content }}", tools="{% if tools is defined %}{{ tools | length }}{% endif %}"), [USER])[0].startswith(
        "q"
    )


def test_a_refusal_names_the_message_and_the_templates_reason() -> None:
    body = "{% if m.content == 'bad' %}{{ raise_exception('no bad words') }}{% endif %}<{{ m.role }}>{{ m.content }}"
    with pytest.raises(UnrenderableChat, match=r"messages\[2\].*no bad words") as caught:
        show(chat(body), [USER, {"role": "assistant", "content": "a"}, {"role": "user", "content": "bad"}, USER])
    assert caught.value.param == "messages[2]"


def test_options_reach_the_template_only_if_it_reads_them() -> None:
    template = chat("{{ m.content }}{{ persona }}{{ enable_thinking }}")
    text, warnings = show(template, [USER], persona="cat", unheard=1, add_generation_prompt=False, enable_thinking=False)
    assert text.startswith("qcatFalse")
    assert len(warnings) == 2
    assert any("unheard" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"enable_thinking": True}, "True"),
        ({"thinking": False}, "False"),
        ({"reasoning_effort": "none"}, "False"),
        ({"reasoning_effort": "high"}, "True"),
    ],
)
def test_the_thinking_switch_is_found_under_its_other_names(options: dict[str, Any], shown: str) -> None:
    assert show(chat("{{ m.content }}[{{ thinking }}]"), [USER], **options)[0].startswith(f"q[{shown}]")


def test_a_tool_use_template_is_used_when_there_are_tools() -> None:
    templates = {
        "default": chat("plain:{{ m.content }}", tools=""),
        "tool_use": chat("tools:{{ m.content }}"),
        "rag": "{{ documents }}",
    }
    renderer = Renderer(templates, Vocabulary())
    assert renderer.render([USER]).text.startswith("plain:q")
    assert "tools:q" in renderer.render([USER], [WEATHER]).text


def test_one_bos_and_only_one() -> None:
    twice, never = "{{ bos_token }}{{ bos_token }}x", "x"
    bos = Vocabulary({"bos_token": "<s>"}, adds_bos=True)
    assert Renderer(twice, bos).render([USER]).text == "<s>x"
    assert Renderer(never, bos).render([USER]).text == "<s>x"
    assert Renderer(never, Vocabulary({"bos_token": "<s>"})).render([USER]).text == "x"
