"""The official `openai` client against the gateway over a real socket: every way to call tools, streamed and whole."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion

from tests.support.server import Gateway, replay_model, serving


def call(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


WEATHER = call("get_weather", '{"city": "Zürich \\"ZH\\""}')
TURNS = [
    {"match": "sunny", "role": "tool", "text": "It is sunny in Zürich."},
    {"match": "both", "text": WEATHER + "\n" + call("get_time", '{"zone": "CET", "n": 1.0}')},
    {"match": "ping", "text": call("ping", "{}")},
    {"match": "think", "text": f"<think>\nWhich city?\n</think>\n\nLet me see.\n{WEATHER}"},
    {"match": "cut", "text": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zür', "finish": "length"},
    {"match": "weather", "text": f"Let me see.\n{WEATHER}"},
    {"match": None, "text": "Hello 👋!"},
]


def function(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": f"does {name}", "parameters": schema}


FUNCTIONS = [
    function("get_weather", city={"type": "string"}),
    function("get_time", zone={"type": "string"}, n={"type": "number"}),
    function("ping"),
]
TOOLS = [{"type": "function", "function": spec} for spec in FUNCTIONS]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving({"models": [replay_model(tmp_path_factory.mktemp("turns"), TURNS, aliases=["gpt-4o"])]}) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


@pytest.fixture(params=["whole", "streamed"])
def ask(request: pytest.FixtureRequest, client: openai.OpenAI) -> Any:
    """Asks for one answer, whole or through the client's own accumulator; both must be the same."""

    def asked(messages: str | list[Any], **fields: Any) -> ChatCompletion:
        given: dict[str, Any] = {"model": "scripted", **fields}
        given["messages"] = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        if request.param == "whole":
            return client.chat.completions.create(**given)
        with client.chat.completions.stream(**given) as stream:
            for _ in stream:
                pass
            return stream._state.current_completion_snapshot  # the final one is refused for answers that were cut

    return asked


def calls(answer: ChatCompletion) -> list[tuple[str, Any]]:
    made = answer.choices[0].message.tool_calls or []
    assert len({made_call.id for made_call in made}) == len(made)
    assert all(made_call.type == "function" and made_call.id.startswith("call_") for made_call in made)
    return [(made_call.function.name, json.loads(made_call.function.arguments)) for made_call in made]


def test_text(ask: Any) -> None:
    answer = ask("hi", tools=TOOLS)
    assert answer.choices[0].message.content == "Hello 👋!"
    assert answer.choices[0].message.tool_calls is None
    assert answer.choices[0].finish_reason == "stop"


def test_a_call_after_text(ask: Any) -> None:
    answer = ask("weather?", tools=TOOLS)
    assert answer.choices[0].message.content.strip() == "Let me see."
    assert calls(answer) == [("get_weather", {"city": 'Zürich "ZH"'})]
    assert answer.choices[0].finish_reason == "tool_calls"


def test_parallel_calls(ask: Any) -> None:
    answer = ask("both?", tools=TOOLS)
    assert answer.choices[0].message.content is None
    assert calls(answer) == [("get_weather", {"city": 'Zürich "ZH"'}), ("get_time", {"zone": "CET", "n": 1.0})]
    assert '"n": 1.0' in answer.choices[0].message.tool_calls[1].function.arguments


def test_only_one_call_where_one_is_asked_for(ask: Any) -> None:
    assert len(calls(ask("both?", tools=TOOLS, parallel_tool_calls=False))) == 1


def test_a_call_without_arguments(ask: Any) -> None:
    assert calls(ask("ping", tools=TOOLS)) == [("ping", {})]


def test_the_result_of_a_call_leads_to_an_answer(ask: Any) -> None:
    first = ask("weather?", tools=TOOLS).choices[0].message
    made = first.tool_calls[0]
    history = [
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "content": first.content,
            "tool_calls": [
                {
                    "id": made.id,
                    "type": "function",
                    "function": {"name": made.function.name, "arguments": made.function.arguments},
                }
            ],
        },
        {"role": "tool", "tool_call_id": made.id, "content": "sunny, 23 degrees"},
    ]
    answer = ask(history, tools=TOOLS)
    assert answer.choices[0].message.content == "It is sunny in Zürich."
    assert answer.choices[0].finish_reason == "stop"


def test_reasoning(ask: Any) -> None:
    answer = ask("think", tools=TOOLS)
    message = answer.choices[0].message
    assert message.reasoning.strip() == message.reasoning_content.strip() == "Which city?"
    assert message.content.strip() == "Let me see."
    assert len(calls(answer)) == 1


def test_required(ask: Any) -> None:
    answer = ask("weather?", tools=TOOLS, tool_choice="required")
    assert len(calls(answer)) == 1
    assert answer.choices[0].finish_reason == "tool_calls"


def test_a_named_function_finishes_with_stop(ask: Any) -> None:
    answer = ask("weather?", tools=TOOLS, tool_choice={"type": "function", "function": {"name": "get_weather"}})
    assert [name for name, _ in calls(answer)] == ["get_weather"]
    assert answer.choices[0].finish_reason == "stop"


def test_no_tools_no_calls(ask: Any) -> None:
    for fields in ({}, {"tools": TOOLS, "tool_choice": "none"}):
        answer = ask("weather?", **fields)
        assert answer.choices[0].message.tool_calls is None
        assert "get_weather" in answer.choices[0].message.content
        assert answer.choices[0].finish_reason == "stop"


def test_a_call_that_was_cut(ask: Any) -> None:
    answer = ask("cut", tools=TOOLS)
    assert answer.choices[0].finish_reason == "length"
    assert answer.choices[0].message.tool_calls[0].function.arguments == '{"city": "Zür'


def test_two_choices(ask: Any) -> None:
    answer = ask("both?", tools=TOOLS, n=2)
    assert [choice.index for choice in answer.choices] == [0, 1]
    ids = [made.id for choice in answer.choices for made in choice.message.tool_calls]
    assert len(set(ids)) == 4


def test_legacy_functions(ask: Any) -> None:
    answer = ask("weather?", functions=FUNCTIONS)
    message = answer.choices[0].message
    assert message.function_call.name == "get_weather"
    assert json.loads(message.function_call.arguments) == {"city": 'Zürich "ZH"'}
    assert message.tool_calls is None
    assert answer.choices[0].finish_reason == "function_call"


def test_an_alias(ask: Any) -> None:
    assert ask("hi", model="gpt-4o").model == "gpt-4o"


def test_usage(client: openai.OpenAI) -> None:
    messages: list[Any] = [{"role": "user", "content": "hi"}]
    whole = client.chat.completions.create(model="scripted", messages=messages).usage
    assert whole is not None
    assert whole.total_tokens == whole.prompt_tokens + whole.completion_tokens > 0
    chunks = list(
        client.chat.completions.create(model="scripted", messages=messages, stream=True, stream_options={"include_usage": True})
    )
    assert [chunk.usage for chunk in chunks] == [None] * (len(chunks) - 1) + [whole]
    assert all(chunk.usage is None for chunk in client.chat.completions.create(model="scripted", messages=messages, stream=True))


def test_errors_arrive_as_the_clients_own(client: openai.OpenAI) -> None:
    messages: list[Any] = [{"role": "user", "content": "hi"}]
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="nope", messages=messages)
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as wrong:
        client.chat.completions.create(model="scripted", messages=messages, temperature=3)
    assert (wrong.value.code, wrong.value.param) == ("decimal_above_max_value", "temperature")
    with pytest.raises(openai.APIError) as broken:
        list(
            client.chat.completions.create(
                model="scripted", messages=messages, tools=TOOLS[:1], tool_choice="required", stream=True
            )
        )
    assert broken.value.code == "tool_call_invalid"


def test_a_failure_is_not_tried_again_when_that_would_not_help(gateway: Gateway) -> None:
    seen: list[Any] = []
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=2) as client:
        client._client.event_hooks["response"].append(seen.append)
        messages: list[Any] = [{"role": "user", "content": "hi"}]
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="scripted", messages=messages, tools=TOOLS[:1], tool_choice="required")
    assert len(seen) == 1
