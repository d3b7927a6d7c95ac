"""Messages requests: what is taken, and the place and the words for what is not."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.chat.request import ResponseFormat, ToolChoice
from gateway.errors import RequestError
from gateway.protocols.messages import schema
from gateway.protocols.messages.decode import Incoming, decoded, decoded_count
from gateway.settings import Limits

LIMITS = Limits()
OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}
F = {"name": "f", "description": "does f", "input_schema": OBJECT}
G = {"name": "g", "input_schema": OBJECT, "type": "custom", "cache_control": {"type": "ephemeral"}, "eager_input_streaming": True}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(call_id: str = "toolu_1", name: str = "f", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(content: Any = "ok", call_id: str = "toolu_1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def incoming(**fields: Any) -> Incoming:
    return decoded({"model": "m", "max_tokens": 10, "messages": [user("hi")], **fields}, LIMITS)


def conversation(*messages: Any, **fields: Any) -> list[dict[str, Any]]:
    return [dict(message) for message in incoming(messages=list(messages), **fields).chat.messages]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": None}, "model: Field required"),
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
        ({"max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
        ({"messages": None}, "messages: Field required"),
        ({"messages": []}, "messages: List should have at least 1 item after validation, not 0"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role: Input should be 'user', 'assistant' or 'system'"),
        ({"messages": [user("hi"), {"role": "user"}]}, "messages.1.content: Field required"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages.0.content: Input should be a string or an array of content"),
        ({"messages": [user({})]}, "messages.0.content.0.type: Field required"),
        ({"messages": [user({"type": "text"})]}, "messages.0.content.0.text: Field required"),
        ({"messages": [user({"type": "text", "text": 1})]}, "messages.0.content.0.text: Input should be a valid string"),
        ({"messages": [user(text("x"), IMAGE)]}, "messages.0.content.1: Images cannot be shown to this model"),
        ({"messages": [user({"type": "audio"})]}, "messages.0.content.0: Content of type 'audio' cannot be shown"),
        (
            {"messages": [user({"type": "document", "source": {"type": "base64", "data": "x"}})]},
            "messages.0.content.0.source: Documents of type 'base64' cannot be shown",
        ),
        ({"messages": [user({"type": "document"})]}, "messages.0.content.0.source: Input should be"),
        ({"messages": [user(result(call_id=None))]}, "messages.0.content.0.tool_use_id: Field required"),
        ({"messages": [user(result(content=7))]}, "messages.0.content.0.content: Input should be a string"),
        ({"messages": [user(result(content=[{"type": "text"}]))]}, "messages.0.content.0.content.0.text: Field required"),
        ({"messages": [assistant({"type": "tool_use", "name": "f"})]}, "messages.0.content.0.id: Field required"),
        ({"messages": [assistant({"type": "tool_use", "id": "x"})]}, "messages.0.content.0.name: Field required"),
        ({"system": 3}, "system: Input should be a string or an array of content blocks"),
        ({"system": [IMAGE]}, "system.0: Images cannot be shown"),
        ({"tools": [{"input_schema": OBJECT}]}, "tools.0.name: Field required"),
        ({"tools": [{"name": "a b", "input_schema": OBJECT}]}, "tools.0.name: String should match pattern"),
        ({"tools": [{"name": "f"}]}, "tools.0.input_schema: Field required"),
        ({"tools": [{"name": "f", "input_schema": "x"}]}, "tools.0.input_schema: Input should be a valid dictionary"),
        ({"tools": [F, F]}, "tools: Tool names must be unique. 'f' is declared twice."),
        (
            {"tools": [{**F, "name": f"f{number}"} for number in range(513)]},
            "tools: Array should have at most 512 items, not 513",
        ),
        ({"tool_choice": {"type": "any"}}, "tool_choice: may only be specified while providing tools"),
        ({"tools": [F], "tool_choice": {"type": "tool"}}, "tool_choice.name: Field required"),
        ({"tools": [F], "tool_choice": {"type": "tool", "name": "h"}}, "tool_choice.name: Tool 'h' not found"),
        ({"tools": [F], "tool_choice": {"type": "must"}}, "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'"),
        ({"tools": [F], "tool_choice": "auto"}, "tool_choice: Input should be a valid dictionary"),
        ({"temperature": 3}, "temperature: Input should be less than or equal to 2"),
        ({"thinking": {"type": "maybe"}}, "thinking.type: Input should be 'enabled', 'disabled' or 'adaptive'"),
        ({"stop_sequences": "x"}, "stop_sequences: Input should be a valid list"),
        ({"stream": "yes"}, "stream: Input should be a valid boolean"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema: Field required"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestError) as caught:
        incoming(**fields)
    assert caught.value.message.startswith(words)
    assert caught.value.status == 400


def test_the_plain_fields() -> None:
    found = incoming(
        stop_sequences=["END", ""], temperature=0.5, top_p=0.9, top_k=40, stream=True, metadata={"user_id": "u"}, system=None
    )
    sampling = found.chat.sampling
    assert found.stream
    assert (sampling.max_tokens, sampling.stop, sampling.temperature, sampling.top_p) == (10, ("END",), 0.5, 0.9)
    assert sampling.engine_extras == {"top_k": 40}
    assert found.chat.messages == ({"role": "user", "content": "hi"},)
    assert (found.chat.tools, found.chat.tool_choice, found.chat.template_kwargs, found.chat.warnings) == (
        (),
        ToolChoice("none"),
        {},
        (),
    )


def test_fields_without_effect_are_named_unless_they_say_nothing() -> None:
    found = incoming(context_management={"edits": []}, service_tier="auto", container=None, made_up=1)
    assert found.chat.warnings == ("context_management has no effect here", "made_up has no effect here")


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("Be brief.", "Be brief."),
        ([text("Be brief."), text("Be kind.")], "Be brief.\n\nBe kind."),
        ([{**text("x-anthropic-billing-header: cc_version=2.1; cch=0;"), "cache_control": None}, text("Be brief.")], "Be brief."),
        ("x-anthropic-billing-header: cc_version=2.1;\nBe brief.", "Be brief."),
        ("Say x-anthropic-billing-header: 1", "Say x-anthropic-billing-header: 1"),
    ],
)
def test_the_system_prompt(system: Any, expected: str) -> None:
    assert conversation(user("hi"), system=system) == [
        {"role": "system", "content": expected},
        {"role": "user", "content": "hi"},
    ]


@pytest.mark.parametrize("system", ["", [], [text("x-anthropic-billing-header: a")]])
def test_an_empty_system_prompt_is_none(system: Any) -> None:
    assert conversation(user("hi"), system=system) == [{"role": "user", "content": "hi"}]


def test_system_messages_may_stand_in_the_conversation() -> None:
    found = conversation(user("hi"), {"role": "system", "content": [text("New rules.")]}, user("go"))
    assert [(message["role"], message["content"]) for message in found] == [
        ("user", "hi"),
        ("system", "New rules."),
        ("user", "go"),
    ]


def test_a_turn_with_thinking_calls_and_results() -> None:
    found = conversation(
        user(text("What"), text("now?")),
        assistant(
            {"type": "thinking", "thinking": "First.", "signature": "s"},
            {"type": "redacted_thinking", "data": "xyz"},
            text("Let me "),
            text("see."),
            use("toolu_1", city="Zürich"),
            use("toolu_2", "g"),
        ),
        user(text("Here:"), result([text("a"), text("b")]), result(None, "toolu_2", is_error=True), text("Well?")),
    )
    assert found == [
        {"role": "user", "content": "What\n\nnow?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "reasoning_content": "First.",
            "tool_calls": [
                {"id": "toolu_1", "type": "function", "function": {"name": "f", "arguments": '{"city": "Zürich"}'}},
                {"id": "toolu_2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "toolu_1", "content": "a\n\nb"},
        {"role": "tool", "tool_call_id": "toolu_2", "content": "Error: "},
        {"role": "user", "content": "Here:\n\nWell?"},
    ]


def test_an_assistants_turn_may_come_in_several_messages() -> None:
    said = (assistant(text("One. ")), assistant(use("a"), text("Two.")), assistant(use("b")))
    found = conversation(user("go"), *said, user(result("x", "a"), result("y", "b")))
    assert [message["role"] for message in found] == ["user", "assistant", "tool", "tool"]
    assert found[1]["content"] == "One. Two."
    assert [call["id"] for call in found[1]["tool_calls"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "shown"),
    [("broken", "Error: broken"), ("Error: x", "Error: x"), ("<tool_use_error>x", "<tool_use_error>x"), ("", "Error: ")],
)
def test_a_failed_call_says_so(given: str, shown: str) -> None:
    assert conversation(user("go"), assistant(use()), user(result(given, is_error=True)))[-1]["content"] == shown


def test_an_image_in_a_result_does_not_end_the_session() -> None:
    found = incoming(messages=[user("go"), assistant(use()), user(result([text("A plot:"), IMAGE]))])
    assert found.chat.messages[-1]["content"] == "A plot:\n\n[an image, which this model cannot see]"
    assert found.chat.warnings == ("images in tool results are not shown to this model",)


def test_texts_of_other_kinds() -> None:
    document = {"type": "document", "title": "Notes", "source": {"type": "text", "media_type": "text/plain", "data": "Buy milk."}}
    found = {"type": "search_result", "title": "Hit", "source": "http://x", "content": [text("one"), text("two")]}
    assert conversation(user(document, found)) == [{"role": "user", "content": "Notes\nBuy milk.\n\nHit\none\n\ntwo"}]
    reference = result([{"type": "tool_reference", "tool_name": "f"}])
    assert conversation(user("go"), assistant(use()), user(reference))[-1]["content"] == "f"


def test_what_ran_elsewhere_is_left_out_and_told() -> None:
    found = incoming(
        messages=[
            user("go"),
            assistant(
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": {"type": "error"}},
                text("Found it."),
            ),
            user("Thanks"),
        ]
    )
    assert found.chat.messages[1] == {"role": "assistant", "content": "Found it."}
    assert found.chat.warnings == (
        "content of type server_tool_use was left out",
        "content of type web_search_tool_result was left out",
    )


def test_a_history_that_does_not_match_is_healed() -> None:
    found = incoming(messages=[user("go"), assistant(use("a"))])
    assert found.chat.messages[-1] == {"role": "tool", "tool_call_id": "a", "content": "[no result]"}
    assert "no result for a" in found.chat.warnings[0]


def test_arguments_that_are_no_object_are_kept_as_text() -> None:
    found = conversation(user("go"), assistant({**use("a"), "input": '{"cut": '}), user(result("x", "a")))
    assert found[1]["tool_calls"][0]["function"]["arguments"] == '{"cut": '


def test_tools() -> None:
    hosted = [{"type": "web_search_20250305", "name": "web_search"}, {"type": "mcp_toolset", "mcp_server_name": "x"}]
    found = incoming(tools=[hosted[0], F, {**G, "strict": True}, hosted[1], hosted[0]]).chat
    assert [(tool.name, tool.description, tool.parameters, tool.strict) for tool in found.tools] == [
        ("f", "does f", OBJECT, False),
        ("g", "", OBJECT, True),
    ]
    assert (found.place_of_tool(0), found.place_of_tool(1)) == ("tools.1.input_schema", "tools.2.input_schema")
    assert found.warnings == (
        "tools of type web_search_20250305 run elsewhere and were ignored",
        "tools of type mcp_toolset run elsewhere and were ignored",
    )
    assert (found.tool_choice, found.parallel_tool_calls) == (ToolChoice("auto"), True)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, ToolChoice("auto")),
        ({"type": "any"}, ToolChoice("required")),
        ({"type": "none"}, ToolChoice("none")),
        ({"type": "tool", "name": "g"}, ToolChoice("named", "g")),
    ],
)
@pytest.mark.parametrize("alone", [False, True])
def test_tool_choices(choice: dict[str, Any], expected: ToolChoice, alone: bool) -> None:
    found = incoming(tools=[F, G], tool_choice={**choice, "disable_parallel_tool_use": alone}).chat
    assert (found.tool_choice, found.parallel_tool_calls) == (expected, not alone)


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_choices_that_force_nothing_need_no_tools(choice: str) -> None:
    assert incoming(tool_choice={"type": choice}).chat.tool_choice == ToolChoice("none")


@pytest.mark.parametrize(
    ("thinking", "options", "warnings"),
    [
        ({"type": "enabled", "budget_tokens": 2000}, {"enable_thinking": True}, ("thinking.budget_tokens has no effect here",)),
        ({"type": "adaptive", "display": "summarized"}, {"enable_thinking": True}, ()),
        ({"type": "disabled"}, {"enable_thinking": False}, ()),
        (None, {}, ()),
    ],
)
def test_thinking(thinking: Any, options: dict[str, Any], warnings: tuple[str, ...]) -> None:
    found = incoming(thinking=thinking).chat
    assert (found.template_kwargs, found.warnings) == (options, warnings)


def test_thinking_is_off_where_a_tool_must_be_used() -> None:
    found = incoming(thinking={"type": "adaptive"}, tools=[F], tool_choice={"type": "any"}, output_config={"effort": "high"}).chat
    assert found.template_kwargs == {"enable_thinking": False, "reasoning_effort": "high"}
    assert found.warnings == ("thinking is off where a tool must be used",)


@pytest.mark.parametrize("place", ["output_config.format", "output_format"])
def test_output_formats(place: str) -> None:
    wanted = {"type": "json_schema", "schema": OBJECT}
    found = incoming(**({"output_format": wanted} if place == "output_format" else {"output_config": {"format": wanted}}))
    assert found.chat.response_format == ResponseFormat("json_schema", OBJECT, held=True, place=f"{place}.schema")
    assert found.chat.warnings == ()


def test_counting_needs_no_max_tokens_and_sees_the_same_conversation() -> None:
    body = {"model": "m", "system": "s", "messages": [user("hi")], "tools": [F]}
    count = decoded_count(body, LIMITS)
    assert (count.messages, count.tools) == (decoded({**body, "max_tokens": 1}, LIMITS).chat.messages, count.tools)


FULL = {
    "model": "m",
    "max_tokens": 10,
    "system": [text("s")],
    "messages": [user(text("a"), result([text("b")])), assistant(use(a=1), text("c")), user(result("x"))],
    "tools": [F, G],
    "tool_choice": {"type": "tool", "name": "f"},
    "thinking": {"type": "enabled", "budget_tokens": 1},
    "stop_sequences": ["x"],
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": OBJECT}},
}
KEYS = sorted({*schema.MessagesRequest.model_fields, *schema.Block.model_fields, *schema.Tool.model_fields})
junk: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["text", "tool_use", "x", "", "image"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A full request with something else in one place."""
    body = copy.deepcopy(FULL)
    node: Any = body
    while True:
        key = draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        inner = node[key]
        if not inner or not isinstance(inner, dict | list) or draw(st.booleans()):
            node[key] = draw(junk)
            return body
        node = inner


@settings(max_examples=500, deadline=None)
@given(damaged())
def test_any_damage_is_taken_or_refused_in_words(body: dict[str, Any]) -> None:
    taken = outcome(body)
    if isinstance(taken, RequestError):
        assert taken.status == 400
        assert 0 < len(taken.message) < 1000
        assert "(text)" not in taken.message
        assert "(parts)" not in taken.message
    else:
        json.dumps(taken.chat.messages)
        assert all(isinstance(message["content"], str) for message in taken.chat.messages)


def outcome(body: dict[str, Any]) -> Incoming | RequestError:
    try:
        return decoded(body, LIMITS)
    except RequestError as error:
        return error
