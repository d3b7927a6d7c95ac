"""What a request for a response asks for, in the gateway's own words."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.chat.request import ChatRequest, ToolChoice
from gateway.errors import RequestError
from gateway.protocols.responses.decode import Decoded, check_supported, decoded, input_items
from gateway.protocols.responses.records import Past
from gateway.protocols.responses.schema import ResponsesRequest
from gateway.protocols.responses.seal import seal, unsealed
from gateway.protocols.validation import validated
from gateway.settings import Limits

OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
F = {"type": "function", "name": "f", "parameters": OBJECT}
CRM = {
    "type": "namespace",
    "name": "crm",
    "description": "customers",
    "tools": [{"type": "function", "name": "f"}, {"type": "custom", "name": "note"}],
}
RUN = {"type": "custom", "name": "run", "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "x"'}}
USER = {"role": "user", "content": "hi"}


def call(call_id: str = "c1", name: str = "f", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": '{"a": "b"}', **more}


def output(call_id: str = "c1", value: Any = "done") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": value}


def read(body: dict[str, Any], past: Sequence[dict[str, Any]] = ()) -> Decoded:
    body = {"model": "m", "input": "hi", **body}
    request = validated(ResponsesRequest, body)
    check_supported(request)
    return decoded(request, body, (Past(past), input_items(request.input)), Limits())


def chat(past: Sequence[dict[str, Any]] = (), **fields: Any) -> ChatRequest:
    return read(fields, past).chat


def refused(**fields: Any) -> tuple[str | None, str | None]:
    with pytest.raises(RequestError) as error:
        read(fields)
    return error.value.code, error.value.param


def test_a_string_is_the_users_message() -> None:
    assert chat(input="hello", instructions="Be kind.").messages == (
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
    )


def test_calls_in_a_row_are_one_turn_with_its_thinking_and_text() -> None:
    items = [
        USER,
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
        call("c1"),
        call("c2", arguments={"a": 1}),
        output("c2", [{"type": "input_text", "text": "two"}]),
        output("c1", {"one": 1}),
    ]
    _, turn, *results = chat(input=items).messages
    assert (turn["reasoning_content"], turn["content"]) == ("hm", "Let me see.")
    assert [(made["id"], made["function"]["arguments"]) for made in turn["tool_calls"]] == [
        ("c1", '{"a": "b"}'),
        ("c2", '{"a": 1}'),
    ]
    assert [(result["tool_call_id"], result["content"]) for result in results] == [
        ("c1", '{"one": 1}'),
        ("c2", [{"type": "text", "text": "two"}]),
    ]


def test_thinking_comes_back_sealed_or_as_a_summary() -> None:
    def thought(**fields: Any) -> Any:
        items = [USER, {"type": "reasoning", "summary": [], **fields}, {"role": "assistant", "content": "x"}]
        return chat(input=items).messages[1].get("reasoning_content")

    assert thought(encrypted_content=seal("höm")) == "höm"
    assert thought(summary=[{"type": "summary_text", "text": "hm"}], encrypted_content="gAAAA-of-another-server") == "hm"
    assert thought(encrypted_content="toolwire.%%%") is None
    assert unsealed(None) == ""


def test_the_past_comes_before_the_input() -> None:
    past = [USER, call("c1"), {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}]
    messages = chat(past, input=[output("c1")], previous_response_id="resp_1", instructions="now").messages
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool"]


def test_names_in_namespaces_are_qualified_and_mapped_back() -> None:
    found = read({"tools": [F, CRM], "input": [USER, call(name="f", namespace="crm"), output(), USER]})
    assert [tool.name for tool in found.chat.tools] == ["f", "crm__f", "crm__note"]
    assert found.chat.messages[1]["tool_calls"][0]["function"]["name"] == "crm__f"
    target = found.tools.targets["crm__f"]
    assert (target.name, target.namespace, target.kind) == ("f", "crm", "function")
    assert found.tools.targets["crm__note"].kind == "custom"
    assert found.chat.place_of_tool(1) == "tools[1].tools[0].parameters"


def test_a_qualified_name_that_is_taken_gets_another() -> None:
    found = read({"tools": [{"type": "function", "name": "crm__f"}, CRM]})
    assert [tool.name for tool in found.chat.tools] == ["crm__f", "crm__f_", "crm__note"]
    assert found.tools.targets["crm__f_"].namespace == "crm"


@pytest.mark.parametrize(
    ("fields", "strict"),
    [
        ({}, True),
        ({"strict": None}, True),
        ({"strict": False}, False),
        ({"strict": True}, True),
        ({"parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}, False),
        ({"parameters": None}, False),
    ],
)
def test_functions_are_strict_where_their_schema_allows_it(fields: dict[str, Any], strict: bool) -> None:
    found = read({"tools": [{**F, **fields}]})
    assert found.chat.tools[0].strict is strict
    assert found.tools.echo[0]["strict"] is strict


@pytest.mark.parametrize(("syntax", "definition", "told"), [("regex", "(?=a)b", "lookaround"), ("lark", "%ignore WS", "%ignore")])
def test_a_grammar_that_cannot_be_held_is_refused(syntax: str, definition: str, told: str) -> None:
    bad = {"type": "custom", "name": "run", "format": {"type": "grammar", "syntax": syntax, "definition": definition}}
    with pytest.raises(RequestError, match=told) as refused:
        read({"tools": [bad]})
    assert refused.value.param == "tools[0].format.definition"


def test_a_grammar_is_held_like_a_strict_schema() -> None:
    (run,) = read({"tools": [RUN]}).chat.tools
    assert run.strict
    assert run.parameters["properties"]["input"]["pattern"] == "^(?:x)$"
    (plain,) = read({"tools": [{"type": "custom", "name": "run"}]}).chat.tools
    assert not plain.strict


def test_what_was_taken_for_strict_can_be_loosened() -> None:
    found = read({"tools": [F, {**F, "name": "g", "strict": True}, {**CRM, "tools": [F]}]})
    assert found.tools.loosen()
    assert [tool.strict for tool in found.tools.tools] == [False, True, False]
    assert [found.tools.echo[0]["strict"], found.tools.echo[1]["strict"]] == [False, True]
    assert found.tools.echo[2]["tools"][0]["strict"] is False
    assert not read({"tools": [{**F, "strict": True}]}).tools.loosen()


def test_tools_are_told_back_flat_and_without_those_that_run_elsewhere() -> None:
    nested = {"type": "function", "function": {"name": "g", "description": "does g"}}
    found = read({"tools": [F, nested, RUN, {"type": "web_search_preview"}, {"type": "computer_use_preview"}]})
    assert [(tool["type"], tool["name"]) for tool in found.tools.echo] == [
        ("function", "f"),
        ("function", "g"),
        ("custom", "run"),
    ]
    assert found.tools.echo[1] == {"type": "function", "name": "g", "description": "does g", "parameters": {}, "strict": False}
    assert found.chat.warnings == (
        "tools of type web_search_preview run elsewhere and were ignored",
        "tools of type computer_use_preview run elsewhere and were ignored",
    )
    assert 'start: "x"' in found.chat.tools[2].description


def test_tools_that_came_with_the_conversation_can_be_called() -> None:
    late = {"type": "additional_tools", "role": "developer", "tools": [{**F, "name": "late"}, F]}
    found = read({"tools": [F], "input": [USER, late], "tool_choice": {"type": "function", "name": "late"}})
    assert [tool.name for tool in found.chat.tools] == ["f", "late"]
    assert [tool["name"] for tool in found.tools.echo] == ["f"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, ToolChoice("auto")),
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        ({"type": "function", "name": "f"}, ToolChoice("named", "f")),
        ({"type": "function", "function": {"name": "f"}}, ToolChoice("named", "f")),
        ({"type": "function", "name": "crm__f"}, ToolChoice("named", "crm__f")),
        ({"type": "function", "name": "f", "namespace": "crm"}, ToolChoice("named", "crm__f")),
        ({"type": "custom", "name": "run"}, ToolChoice("named", "run")),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}, {"type": "web_search"}]},
            ToolChoice("required", allowed=("f",)),
        ),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "namespace", "name": "crm"}]},
            ToolChoice("auto", allowed=("crm__f", "crm__note")),
        ),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}, ToolChoice("none")),
    ],
)
def test_tool_choices(choice: Any, expected: ToolChoice) -> None:
    assert chat(tools=[F, CRM, RUN], tool_choice=choice).tool_choice == expected


@pytest.mark.parametrize(
    ("choice", "error"),
    [
        ("sometimes", ("invalid_value", "tool_choice")),
        (5, ("invalid_type", "tool_choice")),
        ({}, ("missing_required_parameter", "tool_choice.type")),
        ({"type": "function"}, ("missing_required_parameter", "tool_choice.name")),
        ({"type": "function", "name": "note"}, ("invalid_value", "tool_choice")),
        ({"type": "file_search"}, ("unsupported_value", "tool_choice.type")),
        ({"type": "mcp", "server_label": "x"}, ("unsupported_value", "tool_choice.type")),
        ({"type": "allowed_tools", "mode": "never", "tools": []}, ("invalid_value", "tool_choice.mode")),
        ({"type": "allowed_tools", "tools": [{"type": "function", "name": "g"}]}, ("invalid_value", "tool_choice.tools")),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "web_search"}]},
            ("invalid_value", "tool_choice.tools"),
        ),
    ],
)
def test_tool_choices_that_cannot_be(choice: Any, error: tuple[str, str]) -> None:
    assert refused(tools=[F, CRM], tool_choice=choice) == error


def test_response_formats_are_flat() -> None:
    form = {"type": "json_schema", "name": "n", "schema": OBJECT, "strict": True}
    found = chat(text={"format": form, "verbosity": "low"}).response_format
    assert (found.kind, found.schema, found.strict) == ("json_schema", OBJECT, True)
    assert (found.place, found.code) == ("text.format.schema", "invalid_json_schema")
    assert chat(text={"format": {"type": "json_object"}}).response_format.kind == "json_object"
    assert chat(text={}).response_format.kind == "text"


def test_how_the_engine_samples_and_thinks() -> None:
    found = chat(max_output_tokens=5, temperature=0.5, top_p=0.9, top_logprobs=2, reasoning={"effort": "none"})
    assert (found.sampling.max_tokens, found.sampling.temperature, found.sampling.top_p) == (5, 0.5, 0.9)
    assert found.sampling.top_logprobs == 2
    assert found.template_kwargs == {"reasoning_effort": "none"}
    assert chat(include=["message.output_text.logprobs"]).sampling.top_logprobs == 0
    assert chat(include=["web_search_call.results"]).sampling.top_logprobs is None


def test_what_has_no_effect_is_told() -> None:
    def warnings(**fields: Any) -> tuple[str, ...]:
        return chat(**fields).warnings

    assert warnings(include=["web_search_call.results", "reasoning.encrypted_content", "message.output_text.logprobs"]) == (
        "include: web_search_call.results has no effect here",
    )
    assert warnings(reasoning={"effort": "low", "mode": "pro", "context": "auto"}) == (
        "reasoning.mode has no effect here",
        "reasoning.context has no effect here",
    )
    assert warnings(text={"verbosity": "low", "tone": "dry"}) == (
        "text.tone has no effect here",
        "text.verbosity has no effect here",
    )
    assert warnings(service_tier="flex") == ("service_tier flex has no effect here",)
    assert warnings(moderation={}, context_management=[], image={}) == (
        "moderation has no effect here",
        "context_management has no effect here",
        "image has no effect here",
    )
    silent = {"service_tier": "auto", "prompt_cache_retention": "24h", "stream_options": {}, "client_metadata": {"a": "b"}}
    assert warnings(**silent, metadata={"a": "b"}, user="u", prompt_cache_key="k", include=[], text={}, max_tool_calls=2) == ()


def test_a_conversation_that_may_be_shortened() -> None:
    assert chat(truncation="auto").truncates
    assert not chat().truncates


def test_a_summary_is_asked_for_and_read() -> None:
    understood = read({"input": [USER, {"type": "compaction_trigger"}], "tools": [F], "tool_choice": "required"})
    assert understood.compacts
    assert understood.chat.messages[0] == USER
    assert "Summarise" in understood.chat.messages[1]["content"]
    assert understood.chat.tool_choice.mode == "none"
    ours = {"type": "compaction", "encrypted_content": seal("We met.")}
    theirs = {"type": "compaction", "encrypted_content": "gAAAA"}
    found = chat(input=[ours, theirs, USER])
    assert [message["content"].rpartition("\n")[2] for message in found.messages] == ["We met.", "hi"]
    assert found.warnings == ("items of type compaction that were not made here cannot be read and were left out",)


def test_a_summary_stands_for_the_turns_before_it_but_not_for_what_the_user_said() -> None:
    past = [
        {"role": "developer", "content": "rules"},
        USER,
        call(),
        output(),
        {"role": "assistant", "content": "old"},
        {"type": "compaction", "encrypted_content": seal("We met.")},
        {"role": "assistant", "content": "new"},
    ]
    roles = [(message["role"], message["content"][-7:]) for message in chat(past, input="on").messages[:-1]]
    assert roles == [("developer", "rules"), ("user", "hi"), ("user", "We met."), ("assistant", "new")]


def test_items_that_hosted_tools_left_behind_are_left_out() -> None:
    found = chat(input=[{"type": "web_search_call", "id": "ws_1"}, {"type": "mcp_list_tools"}, USER])
    assert len(found.messages) == 1
    assert found.warnings == (
        "items of type web_search_call have no meaning here and were left out",
        "items of type mcp_list_tools have no meaning here and were left out",
    )


@pytest.mark.parametrize(
    ("items", "error"),
    [
        ([], ("empty_array", "input")),
        ([{}], ("missing_required_parameter", "input[0].type")),
        ([USER, {"type": "nope"}], ("invalid_value", "input[1].type")),
        ([{"role": "user"}], ("missing_required_parameter", "input[0].content")),
        ([{"role": "tool", "content": "x"}], ("invalid_value", "input[0].role")),
        ([{"type": "message", "content": "x"}], ("missing_required_parameter", "input[0].role")),
        ([{"role": "user", "content": 5}], ("invalid_type", "input[0].content")),
        ([{"role": "user", "content": [5]}], ("invalid_type", "input[0].content[0]")),
        ([{"role": "user", "content": [{"type": "input_audio"}]}], ("invalid_value", "input[0].content[0].type")),
        ([{"role": "user", "content": [{"type": "input_text"}]}], ("missing_required_parameter", "input[0].content[0].text")),
        ([{"type": "function_call", "name": "f"}], ("missing_required_parameter", "input[0].call_id")),
        ([call(name=5)], ("invalid_type", "input[0].name")),
        ([call(), {"type": "function_call_output"}], ("missing_required_parameter", "input[1].call_id")),
        ([call()], (None, "input")),
        ([output()], (None, "input")),
        ([call("c1"), output("c2")], (None, "input")),
        ([{"type": "reasoning", "content": 5}], ("invalid_type", "input[0].content")),
        (
            [{"type": "additional_tools", "tools": [{"type": "function"}]}],
            ("missing_required_parameter", "input[0].tools[0].name"),
        ),
        (5, ("invalid_type", "input")),
        (None, ("missing_required_parameter", "input")),
    ],
)
def test_input_that_cannot_be_read(items: Any, error: tuple[str | None, str]) -> None:
    assert refused(input=items) == error


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"model": None}, ("missing_required_parameter", "model")),
        ({"prompt": {"id": "p"}}, ("unsupported_parameter", "prompt")),
        ({"conversation": 5}, ("invalid_type", "conversation")),
        ({"conversation": {}}, ("missing_required_parameter", "conversation.id")),
        ({"conversation": "c", "previous_response_id": "r"}, ("mutually_exclusive_parameters", "previous_response_id")),
        ({"input": [{"type": "compaction_trigger"}, USER]}, ("invalid_value", "input[0].type")),
        ({"background": True, "store": False}, ("invalid_value", "background")),
        ({"stream": "yes"}, ("invalid_type", "stream")),
        ({"max_output_tokens": 0}, ("integer_below_min_value", "max_output_tokens")),
        ({"temperature": 3}, ("decimal_above_max_value", "temperature")),
        ({"top_logprobs": 21}, ("integer_above_max_value", "top_logprobs")),
        ({"truncation": "maybe"}, ("invalid_value", "truncation")),
        ({"metadata": {"a": "x" * 513}}, ("string_above_max_length", "metadata.a")),
        ({"reasoning": {"effort": "mega"}}, ("invalid_value", "reasoning.effort")),
        ({"text": {"format": {"type": "json_schema", "schema": {}}}}, ("missing_required_parameter", "text.format.name")),
        ({"text": {"format": {"type": "json_schema", "name": "n"}}}, ("missing_required_parameter", "text.format.schema")),
        ({"tools": [5]}, ("invalid_type", "tools[0]")),
        ({"tools": [{"type": "function"}]}, ("missing_required_parameter", "tools[0].name")),
        ({"tools": [{"type": "function", "function": {}}]}, ("missing_required_parameter", "tools[0].function.name")),
        ({"tools": [{"type": "function", "name": "a b"}]}, ("invalid_value", "tools[0].name")),
        ({"tools": [F, F]}, ("invalid_value", "tools[1].name")),
        ({"tools": [{"type": "nope"}]}, ("invalid_value", "tools[0].type")),
        ({"tools": [{"type": "mcp", "server_label": "x"}]}, ("unsupported_value", "tools[0].type")),
        ({"tools": [{**CRM, "tools": []}]}, ("empty_array", "tools[0].tools")),
        ({"tools": [{**CRM, "tools": [CRM]}]}, ("invalid_value", "tools[0].tools[0].type")),
        ({"tools": [{**F, "strict": "x"}]}, ("invalid_type", "tools[0].strict")),
        ({"tools": [{**RUN, "format": {"type": "grammar"}}]}, ("missing_required_parameter", "tools[0].format.definition")),
    ],
)
def test_fields_that_cannot_be(fields: dict[str, Any], error: tuple[str, str]) -> None:
    assert refused(**fields) == error


def test_unknown_fields_are_ignored_with_a_warning_and_harmless_ones_in_silence() -> None:
    found = chat(frobnicate=1, client_metadata={}, service_tier="auto", stream_options={"include_obfuscation": False})
    assert found.warnings == ("frobnicate has no effect here",)


FULL: dict[str, Any] = {
    "instructions": "Be kind.",
    "input": [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "hi"}, {"type": "input_image", "image_url": "x"}],
        },
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "content": [], "encrypted_content": seal("x")},
        call("c1", namespace="crm"),
        {"type": "custom_tool_call", "call_id": "c2", "name": "run", "input": "x"},
        output("c1", [{"type": "input_text", "text": "done"}]),
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "x"},
        {"type": "tool_search_call", "execution": "server", "call_id": None, "arguments": {"query": "x"}},
        {"type": "tool_search_output", "execution": "server", "call_id": None, "tools": [CRM]},
        {"type": "additional_tools", "role": "developer", "tools": [{**F, "name": "late"}]},
        USER,
    ],
    "tools": [{**F, "defer_loading": True}, CRM, RUN, {"type": "tool_search"}, {"type": "function", "function": {"name": "g"}}],
    "tool_choice": {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "f"}, {"type": "namespace", "name": "crm"}],
    },
    "text": {"format": {"type": "json_schema", "name": "n", "schema": OBJECT, "strict": True}, "verbosity": "low"},
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["message.output_text.logprobs"],
    "metadata": {"a": "b"},
}
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.text(max_size=3)
    | st.sampled_from(["function", "user", "f", "crm", "tool_search"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "name", "text", "id"]), inner, max_size=3)
    ),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside of this one."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from places(inner, (*path, step))


def changed(value: Any, path: Sequence[Any], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


def test_the_full_body_is_understood() -> None:
    assert [tool.name for tool in chat(**FULL).tools] == ["crm__f", "crm__note", "run", "g", "tool_search", "late", "f"]


@settings(max_examples=1500, deadline=None)
@given(st.sampled_from(list(places(FULL))), ANYTHING)
def test_a_body_with_one_strange_value_is_understood_or_refused(path: tuple[Any, ...], value: Any) -> None:
    try:
        found = read(changed(FULL, path, value))
    except RequestError:
        return
    assert found.chat.model == "m"
