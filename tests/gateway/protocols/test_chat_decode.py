"""Chat Completions requests: what is taken, and OpenAI's code, field and words for what is not."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.chat.request import ResponseFormat, ToolChoice
from gateway.errors import RequestError
from gateway.protocols.chat_completions import schema
from gateway.protocols.chat_completions.decode import Incoming, decoded
from gateway.settings import Limits

LIMITS = Limits()
KEYS = sorted(
    {*schema.ChatCompletionRequest.model_fields, *schema.Message.model_fields, *schema.Function.model_fields, "type", "text"}
)
USER = {"role": "user", "content": "hi"}
OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}


def function(name: str = "f", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": OBJECT, **more}}


def incoming(**fields: Any) -> Incoming:
    return decoded({"model": "m", "messages": [USER], **fields}, LIMITS)


F = function()
NAMED = {"type": "function", "function": {"name": "g"}}


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"model": None}, "missing_required_parameter", "model"),
        ({"model": 3}, "invalid_type", "model"),
        ({"messages": None}, "missing_required_parameter", "messages"),
        ({"messages": []}, "empty_array", "messages"),
        ({"messages": "hi"}, "invalid_type", "messages"),
        ({"messages": [3]}, "invalid_type", "messages[0]"),
        ({"messages": [{"content": "x"}]}, "missing_required_parameter", "messages[0].role"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "invalid_value", "messages[0].role"),
        ({"messages": [{"role": 3, "content": "x"}]}, "invalid_type", "messages[0].role"),
        ({"messages": [USER, {"role": "user"}]}, "missing_required_parameter", "messages[1].content"),
        ({"messages": [{"role": "user", "content": {}}]}, "invalid_type", "messages[0].content"),
        ({"messages": [{"role": "user", "content": ["x"]}]}, "invalid_type", "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": [{}]}]}, "missing_required_parameter", "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": 1}]}]}, "invalid_type", "messages[0].content[0].type"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "missing_required_parameter",
            "messages[0].content[0].text",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": 1}]}]},
            "invalid_type",
            "messages[0].content[0].text",
        ),
        ({"messages": [{"role": "function", "content": "x"}]}, "missing_required_parameter", "messages[0].name"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
            "missing_required_parameter",
            "messages[0].tool_calls[0].function",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": 3}}]}]},
            "invalid_type",
            "messages[0].tool_calls[0].function.arguments",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"type": "custom", "custom": {}}]}]},
            "missing_required_parameter",
            "messages[0].tool_calls[0].custom.name",
        ),
        ({"stream": "yes"}, "invalid_type", "stream"),
        ({"stream": 1}, "invalid_type", "stream"),
        ({"stream_options": {"include_usage": True}}, "invalid_value", "stream_options"),
        ({"n": 0}, "integer_below_min_value", "n"),
        ({"n": 1000}, "integer_above_max_value", "n"),
        ({"n": 1.5}, "invalid_type", "n"),
        ({"n": True}, "invalid_type", "n"),
        ({"temperature": 2.1}, "decimal_above_max_value", "temperature"),
        ({"temperature": -1}, "decimal_below_min_value", "temperature"),
        ({"temperature": "0.5"}, "invalid_type", "temperature"),
        ({"top_p": 1.1}, "decimal_above_max_value", "top_p"),
        ({"frequency_penalty": -3}, "decimal_below_min_value", "frequency_penalty"),
        ({"max_tokens": 0}, "integer_below_min_value", "max_tokens"),
        ({"max_completion_tokens": 0}, "integer_below_min_value", "max_completion_tokens"),
        ({"stop": 3}, "invalid_type", "stop"),
        ({"stop": ["a", 3]}, "invalid_type", "stop[1]"),
        ({"seed": 2**64}, "integer_above_max_value", "seed"),
        ({"logit_bias": {"5": 101}}, "decimal_above_max_value", "logit_bias.5"),
        ({"top_logprobs": 2}, "invalid_value", "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "integer_above_max_value", "top_logprobs"),
        ({"modalities": ["text", "audio"]}, "unsupported_value", "modalities"),
        ({"reasoning_effort": "huge"}, "invalid_value", "reasoning_effort"),
        ({"response_format": {}}, "missing_required_parameter", "response_format.type"),
        ({"response_format": {"type": "xml"}}, "invalid_value", "response_format.type"),
        ({"response_format": {"type": "json_schema"}}, "missing_required_parameter", "response_format.json_schema"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a b"}}},
            "invalid_value",
            "response_format.json_schema.name",
        ),
        ({"tools": {}}, "invalid_type", "tools"),
        ({"tools": [{"type": "function"}]}, "missing_required_parameter", "tools[0].function"),
        ({"tools": [{"type": "function", "function": {}}]}, "missing_required_parameter", "tools[0].function.name"),
        ({"tools": [function("a b")]}, "invalid_value", "tools[0].function.name"),
        ({"tools": [function("")]}, "invalid_value", "tools[0].function.name"),
        ({"tools": [function("x" * 129)]}, "string_above_max_length", "tools[0].function.name"),
        ({"tools": [F, F]}, "invalid_value", "tools[1].function.name"),
        ({"tools": [function(str(i)) for i in range(LIMITS.tools + 1)]}, "array_above_max_length", "tools"),
        ({"tools": [{"type": "robot"}]}, "invalid_value", "tools[0].type"),
        ({"tools": [{"type": "custom", "custom": {"name": "a b"}}]}, "invalid_value", "tools[0].custom.name"),
        ({"tools": [function(strict="yes")]}, "invalid_type", "tools[0].function.strict"),
        ({"tools": [function(parameters=[])]}, "invalid_type", "tools[0].function.parameters"),
        ({"tool_choice": "required"}, "invalid_value", "tool_choice"),
        ({"tools": [F], "tool_choice": "maybe"}, "invalid_value", "tool_choice"),
        ({"tools": [F], "tool_choice": 3}, "invalid_type", "tool_choice"),
        ({"tools": [F], "tool_choice": NAMED}, "invalid_value", "tool_choice"),
        ({"tools": [F], "tool_choice": {}}, "missing_required_parameter", "tool_choice.type"),
        ({"tools": [F], "tool_choice": {"type": "function"}}, "missing_required_parameter", "tool_choice.function.name"),
        ({"tools": [F], "tool_choice": {"type": "robot"}}, "invalid_value", "tool_choice.type"),
        ({"tools": [F], "tool_choice": {"type": "custom"}}, "missing_required_parameter", "tool_choice.custom.name"),
        (
            {"tools": [F], "tool_choice": {"type": "allowed_tools", "tools": []}},
            "invalid_value",
            "tool_choice.allowed_tools.tools",
        ),
        (
            {"tools": [F], "tool_choice": {"type": "allowed_tools", "tools": [NAMED]}},
            "invalid_value",
            "tool_choice.allowed_tools.tools",
        ),
        (
            {"tools": [F], "tool_choice": {"type": "allowed_tools", "mode": "none", "tools": [F]}},
            "invalid_value",
            "tool_choice.allowed_tools.mode",
        ),
        ({"functions": []}, "empty_array", "functions"),
        ({"functions": [{"name": "f"}], "tools": [F]}, "invalid_parameter_combination", "functions"),
        ({"functions": [{"name": "f"}, {"name": "f"}]}, "invalid_value", "functions[1].name"),
        ({"functions": [{"name": "f"}], "function_call": {"name": "g"}}, "invalid_value", "function_call"),
        ({"functions": [{"name": "f"}], "function_call": {}}, "missing_required_parameter", "function_call.name"),
        ({"functions": [{"name": "f"}], "function_call": "must"}, "invalid_value", "function_call"),
        ({"functions": [{"name": "f"}], "function_call": 1}, "invalid_type", "function_call"),
        ({"chat_template": "{{ messages }}"}, "unsupported_parameter", "chat_template"),
        ({"guided_regex": "a+"}, "unsupported_parameter", "guided_regex"),
        ({"structured_outputs": {"grammar": "root ::= x"}}, "unsupported_parameter", "structured_outputs.grammar"),
        ({"guided_json": "not json"}, "invalid_value", "guided_json"),
        ({"top_k": "5"}, "invalid_type", "top_k"),
        ({"min_p": 2}, "decimal_above_max_value", "min_p"),
        ({"repetition_penalty": 0}, "decimal_below_min_value", "repetition_penalty"),
        ({"stop_token_ids": [-1]}, "integer_below_min_value", "stop_token_ids[0]"),
        ({"cache_salt": ""}, "invalid_value", "cache_salt"),
        ({"stop": ["x"] * 17}, "array_above_max_length", "stop"),
        ({"logit_bias": {str(token): 1 for token in range(1025)}}, "array_above_max_length", "logit_bias"),
    ],
)
def test_what_is_refused(fields: dict[str, Any], code: str, param: str) -> None:
    with pytest.raises(RequestError) as caught:
        incoming(**fields)
    error = caught.value
    assert (error.status, error.code, error.param) == (400, code, param)
    assert error.body().keys() == {"error"}
    assert param in error.message or code in ("invalid_value", "unsupported_value")


@pytest.mark.parametrize("legacy", [False, True])
def test_parameters_that_are_too_large(legacy: bool) -> None:
    parameters = {"type": "object", "description": "x" * LIMITS.schema_bytes}
    fields = {"functions": [{"name": "f", "parameters": parameters}]} if legacy else {"tools": [function(parameters=parameters)]}
    with pytest.raises(RequestError) as caught:
        incoming(**fields)
    assert caught.value.code == "invalid_function_parameters"
    assert caught.value.param == ("functions[0].parameters" if legacy else "tools[0].function.parameters")
    assert caught.value.message.startswith("Invalid schema for function 'f': it is too large")


def test_the_place_of_each_functions_parameters_is_kept_for_errors() -> None:
    found = incoming(tools=[{"type": "web_search"}, function(), {"type": "mcp"}, function(name="g")]).chat
    assert [found.place_of_tool(index) for index in range(2)] == ["tools[1].function.parameters", "tools[3].function.parameters"]
    legacy = incoming(functions=[{"name": "f"}, {"name": "g"}]).chat
    assert legacy.place_of_tool(1) == "functions[1].parameters"


def test_schemas_nested_too_deeply() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(LIMITS.schema_depth):
        deep = {"type": "object", "properties": {"a": deep}}
    with pytest.raises(RequestError, match="nested too deeply"):
        incoming(tools=[function(parameters=deep)])
    with pytest.raises(RequestError, match="nested too deeply") as caught:
        incoming(response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": deep}})
    assert (caught.value.code, caught.value.param) == (None, "response_format")


def test_the_words_of_a_wrong_type() -> None:
    with pytest.raises(RequestError) as caught:
        incoming(n="2")
    assert caught.value.message == "Invalid type for 'n': expected an integer, but got a string instead."


def test_null_is_the_same_as_absent_for_every_field() -> None:
    nulls = {name: None for name in schema.ChatCompletionRequest.model_fields if name not in ("model", "messages")}
    assert incoming(**nulls, user=None, unheard_of=None) == incoming()


def test_null_inside_messages_and_tools_is_absent_too() -> None:
    message = {"role": "assistant", "content": "x", "tool_calls": None, "function_call": None, "refusal": None, "name": None}
    tool = {
        "type": "function",
        "function": {"name": "f", "description": None, "parameters": None, "strict": None},
        "custom": None,
    }
    found = incoming(messages=[USER, message], tools=[tool]).chat
    assert found.messages[1] == {"role": "assistant", "content": "x"}
    assert (found.tools[0].description, found.tools[0].parameters, found.tools[0].strict) == ("", {}, False)


def test_sampling() -> None:
    found = incoming(
        temperature=0, top_p=0.5, frequency_penalty=1, presence_penalty=-1, seed=7, n=2, stop="END", logit_bias={"5": -100}
    ).chat.sampling
    assert (found.temperature, found.top_p, found.frequency_penalty, found.presence_penalty) == (0, 0.5, 1, -1)
    assert (found.seed, found.n, found.stop, found.logit_bias) == (7, 2, ("END",), {"5": -100})
    assert found.top_logprobs is None
    assert incoming(logprobs=True).chat.sampling.top_logprobs == 0
    assert incoming(logprobs=True, top_logprobs=3).chat.sampling.top_logprobs == 3
    assert incoming(stop=["a", "", "b"]).chat.sampling.stop == ("a", "b")


def test_max_completion_tokens_wins() -> None:
    assert incoming(max_tokens=5).chat.sampling.max_tokens == 5
    assert incoming(max_tokens=5, max_completion_tokens=7).chat.sampling.max_tokens == 7


def test_extras_of_the_engine_are_passed_on_and_others_are_not() -> None:
    found = incoming(top_k=5, ignore_eos=True, stop_token_ids=[1], skip_special_tokens=False, echo=True).chat
    assert found.sampling.engine_extras == {"top_k": 5, "ignore_eos": True, "stop_token_ids": [1]}
    assert found.warnings == ("echo has no effect here",)


def test_unknown_fields_are_told_and_harmless_ones_are_not() -> None:
    found = incoming(user="u", metadata={"a": 1}, store=True, web_search_options={}, frobnicate=1).chat
    assert found.warnings == ("web_search_options has no effect here", "frobnicate has no effect here")
    many = incoming(**{f"x{i}": 1 for i in range(500)}).chat.warnings
    assert len(many) < 30
    assert many[-1].endswith("more fields have no effect here")


def test_template_options() -> None:
    found = incoming(chat_template_kwargs={"enable_thinking": False}, reasoning_effort="low", documents=[{"text": "x"}]).chat
    assert found.template_kwargs == {"enable_thinking": False, "reasoning_effort": "low", "documents": [{"text": "x"}]}


def test_how_the_answer_is_written() -> None:
    plain = incoming()
    assert (plain.stream, plain.include_usage, plain.legacy, plain.reasoning) == (False, False, False, True)
    other = incoming(stream=True, stream_options={"include_usage": True}, functions=[{"name": "f"}], include_reasoning=False)
    assert (other.stream, other.include_usage, other.legacy, other.reasoning) == (True, True, True, False)
    assert incoming(stream_options={}).stream is False


def test_tools() -> None:
    found = incoming(tools=[function(description="does", strict=True, defer_loading=True), {"function": {"name": "g"}}]).chat
    first, second = found.tools
    assert (first.name, first.description, first.parameters, first.strict) == ("f", "does", OBJECT, True)
    assert (second.name, second.parameters, second.strict) == ("g", {}, False)
    assert found.tool_choice == ToolChoice("auto")
    assert found.parallel_tool_calls is True
    assert incoming(tools=[]).chat.tool_choice == ToolChoice("none")


def test_hosted_tools_are_ignored_with_a_warning() -> None:
    found = incoming(tools=[{"type": "web_search"}, F]).chat
    assert [tool.name for tool in found.tools] == ["f"]
    assert "web_search" in found.warnings[0]


def test_old_drafts_of_json_schema_are_left_to_planning() -> None:
    old = {
        "$schema": "http://127.0.0.1:9/nowhere",
        "type": "object",
        "properties": {"a": {"minimum": 1, "exclusiveMinimum": True}},
    }
    assert incoming(tools=[function(parameters=old)]).chat.tools[0].parameters == old


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("none", ToolChoice("none")),
        ("auto", ToolChoice("auto")),
        ("required", ToolChoice("required")),
        ("any", ToolChoice("required")),
        ({"type": "any"}, ToolChoice("required")),
        ({"type": "function", "function": {"name": "f"}}, ToolChoice("named", "f")),
        ({"type": "function", "name": "f"}, ToolChoice("named", "f")),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [F]}},
            ToolChoice("required", allowed=("f",)),
        ),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
            ToolChoice("auto", allowed=("f",)),
        ),
    ],
)
def test_tool_choices(choice: Any, expected: ToolChoice) -> None:
    assert incoming(tools=[F, function("g")], tool_choice=choice).chat.tool_choice == expected


@pytest.mark.parametrize("choice", ["none", "auto"])
def test_a_choice_that_asks_for_nothing_needs_no_tools(choice: str) -> None:
    assert incoming(tool_choice=choice, parallel_tool_calls=False).chat.tool_choice == ToolChoice("none")


def test_response_formats() -> None:
    assert incoming(response_format={"type": "text"}).chat.response_format == ResponseFormat()
    assert incoming(response_format={"type": "json_object"}).chat.response_format == ResponseFormat("json_object")
    spec = {"name": "answer", "schema": OBJECT, "strict": True}
    expected = ResponseFormat("json_schema", OBJECT, "answer", True)
    assert incoming(response_format={"type": "json_schema", "json_schema": spec}).chat.response_format == expected
    assert incoming(structured_outputs={"json": OBJECT}).chat.response_format.schema == OBJECT
    assert incoming(structured_outputs={"json_object": True}).chat.response_format.kind == "json_object"
    assert incoming(guided_json='{"type": "object"}').chat.response_format.schema == {"type": "object"}


def test_legacy_functions() -> None:
    found = incoming(functions=[{"name": "f", "parameters": OBJECT}], function_call={"name": "f"})
    assert found.legacy
    assert found.chat.tools[0].name == "f"
    assert found.chat.tool_choice == ToolChoice("named", "f")
    assert found.chat.parallel_tool_calls is False
    assert incoming(functions=[{"name": "f"}]).chat.tool_choice == ToolChoice("auto")
    assert incoming(functions=[{"name": "f"}], function_call="none").chat.tool_choice == ToolChoice("none")


def test_legacy_messages_become_calls_and_results() -> None:
    messages = [
        USER,
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "r"},
    ]
    call, result = incoming(messages=messages).chat.messages[1:]
    assert call["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}
    assert result == {"role": "tool", "content": "r", "tool_call_id": call["tool_calls"][0]["id"]}


def test_messages_of_every_role() -> None:
    parts = [{"type": "text", "text": "a", "cache_control": {}}, {"type": "image_url", "image_url": {"url": "u"}}]
    messages = [
        {"role": "developer", "content": "d", "name": "n"},
        {"role": "user", "content": parts},
        {
            "role": "assistant",
            "reasoning": "thought",
            "audio": {"id": "x"},
            "annotations": [],
            "tool_calls": [
                {"id": "c", "function": {"name": "f", "arguments": {"a": 1}}, "index": 0},
                {"id": "d", "function": {"name": "f"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": None, "name": "f"},
        {"role": "tool", "tool_call_id": "d", "content": [{"type": "text", "text": "r"}]},
        {"role": "assistant", "content": None, "refusal": "no"},
        {"role": "assistant", "content": None},
    ]
    found = incoming(messages=messages).chat
    assert found.messages == (
        {"role": "developer", "content": "d", "name": "n"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, parts[1]]},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "thought",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
                {"id": "d", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "content": "", "tool_call_id": "c"},
        {"role": "tool", "content": [{"type": "text", "text": "r"}], "tool_call_id": "d"},
        {"role": "assistant", "content": "no"},
        {"role": "assistant", "content": ""},
    )
    assert found.warnings == ()


def test_arguments_that_are_not_json_are_kept_as_they_are() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    found = incoming(messages=[USER, {"role": "assistant", "tool_calls": [call]}]).chat
    assert found.messages[1]["tool_calls"][0]["function"]["arguments"] == '{"a": '


def test_a_broken_history_is_healed_with_a_warning() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    found = incoming(messages=[{"role": "assistant", "tool_calls": [call]}, USER]).chat
    assert [message["role"] for message in found.messages] == ["assistant", "tool", "user"]
    assert "c" in found.warnings[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4),
    max_leaves=15,
)
USUAL = {
    "messages": [USER, {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"}}]}],
    "tools": [F],
    "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [F]}},
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": OBJECT}},
    "functions": None,
    "stream_options": {"include_usage": True},
}


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """Usual requests with something odd put in some place."""
    body = {"model": "m", "stream": True, **copy.deepcopy(USUAL)}
    for _ in range(draw(st.integers(1, 3))):
        node: Any = body
        while True:
            places = list(node) if isinstance(node, dict) else list(range(len(node)))
            place = draw(st.sampled_from([*places, *KEYS]) if isinstance(node, dict) else st.sampled_from(places))
            child = node[place] if place in places else None
            if not child or not isinstance(child, (dict, list)) or draw(st.booleans()):
                node[place] = draw(JSON)
                break
            node = child
    return body


@settings(max_examples=500, deadline=None)
@given(bodies())
def test_any_json_is_decoded_or_refused_in_words(body: dict[str, Any]) -> None:
    error = refusal(body)
    assert error is None or (error.status == 400 and error.message and error.param)


def refusal(body: dict[str, Any]) -> RequestError | None:
    try:
        decoded(body, LIMITS)
    except RequestError as error:
        return error
    return None
