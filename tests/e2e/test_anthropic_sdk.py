"""The official `anthropic` client against the gateway over a real socket: every way to call tools, streamed and whole."""

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from tests.support.server import SLOW_TURN, Gateway, replay_model, serving, wait_for


def call(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


WEATHER = call("get_weather", '{"city": "Zürich \\"ZH\\""}')
TURNS = [
    {"match": "sunny", "role": "tool", "text": "It is sunny in Zürich."},
    {"match": "^Error: no such city", "role": "tool", "text": "I do not know that city."},
    {"match": "both", "text": WEATHER + "\n" + call("get_time", '{"zone": "CET", "n": 1.0}')},
    {"match": "ping", "text": call("ping", "{}")},
    {"match": "think", "text": f"<think>\nWhich city?\n</think>\n\nLet me see.\n{WEATHER}"},
    {"match": "cut", "text": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zür', "finish": "length"},
    {"match": "weather", "text": f"Let me see.\n{WEATHER}"},
    {"match": "count", "text": "one two END three"},
    SLOW_TURN,
    {"match": None, "text": "Hello 👋!"},
]


def tool(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": f"does {name}", "input_schema": schema}


TOOLS = [
    tool("get_weather", city={"type": "string"}),
    tool("get_time", zone={"type": "string"}, n={"type": "number"}),
    tool("ping"),
]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving({"models": [replay_model(tmp_path_factory.mktemp("turns"), TURNS, aliases=["claude-*"])]}) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[Any]:
    with anthropic.Anthropic(base_url=gateway.url, api_key="x", max_retries=0) as made:
        yield made


def asking(messages: str | list[Any], **fields: Any) -> dict[str, Any]:
    """One request's fields."""
    given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    return {"model": "claude-opus-4-8", "max_tokens": 1000, "messages": given, **fields}


@pytest.fixture(params=["whole", "streamed"])
def ask(request: pytest.FixtureRequest, client: Any) -> Any:
    """Asks for one answer, whole or through the client's own accumulator; both must be the same."""

    def asked(messages: str | list[Any], **fields: Any) -> Any:
        if request.param == "whole":
            return client.messages.create(**asking(messages, **fields))
        with client.messages.stream(**asking(messages, **fields)) as stream:
            return stream.get_final_message()

    return asked


def text(answer: Any) -> str:
    return "".join(block.text for block in answer.content if block.type == "text")


def calls(answer: Any) -> list[tuple[str, Any]]:
    made = [block for block in answer.content if block.type == "tool_use"]
    assert len({block.id for block in made}) == len(made)
    assert all(block.id.startswith("toolu_") for block in made)
    return [(block.name, block.input) for block in made]


def test_text(ask: Any) -> None:
    answer = ask("hi", tools=TOOLS)
    assert [block.to_dict() for block in answer.content] == [{"type": "text", "text": "Hello 👋!"}]
    assert (answer.role, answer.model, answer.stop_reason, answer.stop_sequence) == (
        "assistant",
        "claude-opus-4-8",
        "end_turn",
        None,
    )
    assert answer.id.startswith("msg_")
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0


def test_a_call_after_text(ask: Any) -> None:
    answer = ask("weather?", tools=TOOLS)
    assert [block.type for block in answer.content] == ["text", "tool_use"]
    assert text(answer).strip() == "Let me see."
    assert calls(answer) == [("get_weather", {"city": 'Zürich "ZH"'})]
    assert answer.stop_reason == "tool_use"


def test_parallel_calls(ask: Any) -> None:
    answer = ask("both?", tools=TOOLS)
    assert calls(answer) == [("get_weather", {"city": 'Zürich "ZH"'}), ("get_time", {"zone": "CET", "n": 1.0})]
    assert text(answer) == ""


def test_only_one_call_where_one_is_asked_for(ask: Any) -> None:
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    answer = ask("both?", tools=TOOLS, tool_choice=choice)
    assert len(calls(answer)) == 1
    assert answer.stop_reason == "tool_use"


def test_a_call_without_arguments(ask: Any) -> None:
    assert calls(ask("ping", tools=TOOLS)) == [("ping", {})]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"content": "sunny, 23 degrees"}, "It is sunny in Zürich."),
        ({"content": [{"type": "text", "text": "sunny"}]}, "It is sunny in Zürich."),
        ({"content": "no such city", "is_error": True}, "I do not know that city."),
    ],
)
def test_the_result_of_a_call_leads_to_an_answer(ask: Any, result: dict[str, Any], expected: str) -> None:
    first = ask("think", tools=TOOLS)
    made = next(block for block in first.content if block.type == "tool_use")
    history = [
        {"role": "user", "content": "think"},
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": made.id, **result}]},
    ]
    answer = ask(history, tools=TOOLS)
    assert text(answer) == expected
    assert answer.stop_reason == "end_turn"


def test_thinking(ask: Any) -> None:
    answer = ask("think", tools=TOOLS, thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2000)
    thought, said, made = answer.content
    assert (thought.type, thought.thinking.strip()) == ("thinking", "Which city?")
    assert thought.signature
    assert said.text.strip() == "Let me see."
    assert made.name == "get_weather"
    assert answer.usage.output_tokens_details.thinking_tokens > 0


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "get_weather"}])
def test_a_forced_tool(ask: Any, choice: dict[str, Any]) -> None:
    answer = ask("weather?", tools=TOOLS, tool_choice=choice)
    assert [name for name, _ in calls(answer)] == ["get_weather"]
    assert answer.stop_reason == "tool_use"


def test_no_tools_no_calls(ask: Any) -> None:
    for fields in ({}, {"tools": TOOLS, "tool_choice": {"type": "none"}}):
        answer = ask("weather?", **fields)
        assert calls(answer) == []
        assert "get_weather" in text(answer)
        assert answer.stop_reason == "end_turn"


def test_a_call_that_was_cut(ask: Any) -> None:
    answer = ask("cut", tools=TOOLS)
    assert answer.stop_reason == "max_tokens"
    assert calls(answer) == [("get_weather", {})]


def test_max_tokens(ask: Any) -> None:
    answer = ask("slow", max_tokens=2)
    assert (text(answer), answer.stop_reason, answer.usage.output_tokens) == ("word word ", "max_tokens", 2)


def test_a_stop_sequence(ask: Any) -> None:
    answer = ask("count", stop_sequences=["END", "never"])
    assert (text(answer), answer.stop_reason, answer.stop_sequence) == ("one two ", "stop_sequence", "END")


def test_a_system_prompt_in_blocks_with_cache_marks(ask: Any) -> None:
    blocks = [
        {"type": "text", "text": "x-anthropic-billing-header: cc_version=1;"},
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
    ]
    longer = ask("hi", system=blocks).usage.input_tokens
    assert longer == ask("hi", system="Be brief.").usage.input_tokens > ask("hi").usage.input_tokens


def test_events_come_as_they_are_written(client: Any) -> None:
    with client.messages.stream(**asking("both?", tools=TOOLS)) as stream:
        kinds = [event.type for event in stream]
        assert stream.response.headers["content-type"].startswith("text/event-stream")
    assert kinds.count("content_block_stop") == 2
    assert kinds.count("input_json") > 4
    assert kinds[-1] == "message_stop"


def test_tokens_are_counted(client: Any) -> None:
    fields = asking("weather?", tools=TOOLS, system="Be brief.")
    spent = client.messages.create(**fields).usage.input_tokens
    del fields["max_tokens"]
    assert client.messages.count_tokens(**fields).input_tokens == spent


def test_models(client: Any) -> None:
    (model,) = client.models.list().data
    assert (model.id, model.type) == ("scripted", "model")
    assert client.models.retrieve("claude-haiku-4-5").id == "scripted"


def test_errors_arrive_as_the_clients_own(client: Any) -> None:
    with pytest.raises(anthropic.NotFoundError) as missing:
        client.messages.create(**asking("hi", model="nope"))
    assert missing.value.body["error"]["type"] == "not_found_error"
    assert missing.value.request_id == missing.value.body["request_id"]
    with pytest.raises(anthropic.BadRequestError, match="max_tokens: Input should be greater"):
        client.messages.create(**asking("hi", max_tokens=0))
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("nope")
    with pytest.raises(anthropic.APIStatusError, match="without the demanded call") as broken:
        client.messages.create(**asking("hi", tools=TOOLS, tool_choice={"type": "any"}))
    assert broken.value.status_code == 502


def test_a_failure_in_mid_stream_is_raised(client: Any) -> None:
    with (
        pytest.raises(anthropic.APIStatusError, match="without the demanded call") as broken,
        client.messages.stream(**asking("hi", tools=TOOLS, tool_choice={"type": "any"})) as stream,
    ):
        stream.get_final_message()
    assert broken.value.body["error"]["type"] == "api_error"


def test_a_failure_is_not_tried_again_when_that_would_not_help(gateway: Gateway) -> None:
    seen: list[Any] = []
    with anthropic.Anthropic(base_url=gateway.url, api_key="x", max_retries=2) as client:
        client._client.event_hooks["response"].append(seen.append)
        with pytest.raises(anthropic.InternalServerError):
            client.messages.create(**asking("hi", tools=TOOLS, tool_choice={"type": "any"}))
    assert len(seen) == 1


def test_leaving_a_stream_stops_the_generation(gateway: Gateway) -> None:
    with anthropic.Anthropic(base_url=gateway.url, api_key="x", max_retries=0) as client:
        with client.messages.stream(**asking("slow")) as stream:
            assert next(stream.text_stream).strip() == "word"
            assert wait_for(lambda: gateway.running() == 1)
        assert gateway.wait_until_idle()


def test_a_client_with_a_bearer_token_is_served_too(gateway: Gateway) -> None:
    with anthropic.Anthropic(base_url=gateway.url, auth_token="x", max_retries=0) as client:
        assert text(client.messages.create(**asking("hi"))) == "Hello 👋!"
