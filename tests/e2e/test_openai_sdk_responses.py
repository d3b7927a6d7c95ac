"""The official `openai` client's Responses against the gateway over a real socket, streamed and whole."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pydantic
import pytest
from openai.types.responses import Response

from tests.support.redis import MISSING, PROGRAM, redis_server
from tests.support.server import SLOW_TURN, Gateway, replay_model, serving, wait_for


def call(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


WEATHER = call("get_weather", '{"city": "Zürich \\"ZH\\""}')
TURNS = [
    {"match": "sunny", "role": "tool", "text": "It is sunny in Zürich."},
    {"match": "both", "text": WEATHER + "\n" + call("get_time", '{"zone": "CET", "n": 1.0}')},
    {"match": "ping", "text": call("ping", "{}")},
    {"match": "think", "text": f"<think>\nWhich city?\n</think>\n\nLet me see.\n{WEATHER}"},
    {"match": "cut", "text": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zür', "finish": "length"},
    {"match": "broken", "text": call("get_weather", '{"town": 1}')},
    {"match": "customer", "text": call("crm__get", '{"id": 7}')},
    {"match": "code", "text": call("run", '{"input": "print(\\"hi\\")\\n"}')},
    {"match": "json", "text": '{"answer": 42}'},
    SLOW_TURN,
    {"match": "weather", "text": f"Let me see.\n{WEATHER}"},
    {"match": None, "text": "Hello 👋!"},
]


def function(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "function", "name": name, "description": f"does {name}", "parameters": schema}


TOOLS = [
    function("get_weather", city={"type": "string"}),
    function("get_time", zone={"type": "string"}, n={"type": "number"}),
    function("ping"),
    {"type": "namespace", "name": "crm", "description": "customers", "tools": [function("get", id={"type": "integer"})]},
    {"type": "custom", "name": "run", "description": "runs Python"},
    {"type": "web_search"},
]


@pytest.fixture(scope="module", params=["memory", "redis"])
def store(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    if request.param == "memory":
        yield {"kind": "memory"}
    elif PROGRAM is None:
        pytest.skip(MISSING)
    else:
        with redis_server() as url:
            yield {"kind": "redis", "url": url}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, store: dict[str, Any]) -> Iterator[Gateway]:
    with serving({"store": store, "models": [replay_model(tmp_path_factory.mktemp("turns"), TURNS)]}) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


@pytest.fixture(params=["whole", "streamed"])
def ask(request: pytest.FixtureRequest, client: openai.OpenAI) -> Any:
    """Asks for one response, whole or through the client's own accumulator; both must be the same."""

    def asked(given: Any, **fields: Any) -> Response:
        if request.param == "whole":
            return client.responses.create(model="scripted", input=given, **fields)
        with client.responses.stream(model="scripted", input=given, **fields) as stream:
            last = None
            for event in stream:
                last = event
        assert last is not None
        assert last.type in ("response.completed", "response.incomplete", "response.failed")
        return last.response

    return asked


def calls(answer: Response) -> list[tuple[str, Any]]:
    made = [item for item in answer.output if item.type == "function_call"]
    assert len({item.call_id for item in made}) == len({item.id for item in made}) == len(made)
    return [(item.name, json.loads(item.arguments)) for item in made]


def test_text(ask: Any) -> None:
    answer = ask("hi", instructions="Be kind.", metadata={"a": "b"}, tools=TOOLS)
    assert answer.output_text == "Hello 👋!"
    assert (answer.status, answer.error, answer.incomplete_details) == ("completed", None, None)
    assert (answer.instructions, answer.metadata, answer.model) == ("Be kind.", {"a": "b"}, "scripted")
    assert answer.usage.input_tokens > 0
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens
    assert [tool.type for tool in answer.tools] == ["function", "function", "function", "namespace", "custom"]
    assert [tool.strict for tool in answer.tools[:3]] == [False, False, False]


def test_a_call_after_text(ask: Any) -> None:
    answer = ask("weather?", tools=TOOLS)
    assert [item.type for item in answer.output] == ["message", "function_call"]
    assert answer.output_text == "Let me see."
    assert calls(answer) == [("get_weather", {"city": 'Zürich "ZH"'})]


def test_parallel_calls(ask: Any) -> None:
    answer = ask("both?", tools=TOOLS)
    assert calls(answer) == [("get_weather", {"city": 'Zürich "ZH"'}), ("get_time", {"zone": "CET", "n": 1.0})]
    assert len(calls(ask("both?", tools=TOOLS, parallel_tool_calls=False))) == 1


def test_a_call_without_arguments(ask: Any) -> None:
    assert calls(ask("ping", tools=TOOLS)) == [("ping", {})]


def test_reasoning(ask: Any) -> None:
    answer = ask("think", tools=TOOLS, include=["reasoning.encrypted_content"])
    thinking = answer.output[0]
    assert [item.type for item in answer.output] == ["reasoning", "message", "function_call"]
    assert [part.text.strip() for part in thinking.content] == ["Which city?"]
    assert thinking.encrypted_content
    assert answer.usage.output_tokens_details.reasoning_tokens > 0
    summed = ask("think", tools=TOOLS, reasoning={"effort": "low", "summary": "auto"})
    assert [part.text.strip() for part in summed.output[0].summary] == ["Which city?"]
    assert (summed.reasoning.effort, summed.reasoning.summary) == ("low", "auto")


def test_the_result_of_a_call_by_the_previous_response(ask: Any) -> None:
    first = ask("think of the weather", tools=TOOLS)
    output = {"type": "function_call_output", "call_id": first.output[-1].call_id, "output": "sunny, 23 degrees"}
    answer = ask([output], previous_response_id=first.id, tools=TOOLS)
    assert answer.output_text == "It is sunny in Zürich."
    assert answer.previous_response_id == first.id


def test_the_result_of_a_call_by_the_full_input(ask: Any) -> None:
    first = ask("think of the weather", tools=TOOLS, store=False)
    output = {"type": "function_call_output", "call_id": first.output[-1].call_id, "output": "sunny, 23 degrees"}
    items = [item.to_dict() for item in first.output]
    answer = ask([{"role": "user", "content": "weather?"}, *items, output], tools=TOOLS, store=False)
    assert answer.output_text == "It is sunny in Zürich."


def test_items_are_referred_to_by_their_ids(ask: Any) -> None:
    first = ask("weather?", tools=TOOLS)
    references = [{"type": "item_reference", "id": item.id} for item in first.output]
    output = {"type": "function_call_output", "call_id": first.output[-1].call_id, "output": "sunny"}
    answer = ask([{"role": "user", "content": "weather?"}, *references, output], tools=TOOLS)
    assert answer.output_text == "It is sunny in Zürich."


def test_a_function_in_a_namespace(ask: Any) -> None:
    first = ask("customer 7", tools=TOOLS)
    made = first.output[0]
    assert (made.name, made.namespace, json.loads(made.arguments)) == ("get", "crm", {"id": 7})
    output = {"type": "function_call_output", "call_id": made.call_id, "output": "sunny"}
    history = [{"role": "user", "content": "customer 7"}, made.to_dict(), output]
    assert ask(history, tools=TOOLS).output_text == "It is sunny in Zürich."


def test_a_custom_tool(ask: Any) -> None:
    first = ask("code", tools=TOOLS)
    made = first.output[0]
    assert (made.type, made.name, made.input) == ("custom_tool_call", "run", 'print("hi")\n')
    output = {"type": "custom_tool_call_output", "call_id": made.call_id, "output": "sunny"}
    assert ask([output], previous_response_id=first.id, tools=TOOLS).output_text == "It is sunny in Zürich."


@pytest.mark.parametrize(
    "choice",
    [
        "required",
        {"type": "function", "name": "get_weather"},
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_weather"}]},
    ],
)
def test_demanded_calls(ask: Any, choice: Any) -> None:
    answer = ask("weather?", tools=TOOLS, tool_choice=choice)
    assert [name for name, _ in calls(answer)] == ["get_weather"]
    assert answer.status == "completed"


def test_no_tools_no_calls(ask: Any) -> None:
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "ping"}]}
    for fields in ({}, {"tools": TOOLS, "tool_choice": "none"}, {"tools": TOOLS, "tool_choice": allowed}):
        answer = ask("weather?", **fields)
        assert calls(answer) == []
        assert "get_weather" in answer.output_text


def test_a_call_that_was_cut(ask: Any) -> None:
    answer = ask("cut", tools=TOOLS)
    assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert (answer.output[0].status, answer.output[0].arguments) == ("incomplete", '{"city": "Zür')


class Answer(pydantic.BaseModel):
    answer: int


def test_parsed_text(client: openai.OpenAI) -> None:
    parsed = client.responses.parse(model="scripted", input="json", text_format=Answer)
    assert parsed.output_parsed == Answer(answer=42)
    assert parsed.text.format.to_dict()["strict"] is True
    with client.responses.stream(model="scripted", input="json", text_format=Answer) as stream:
        assert stream.get_final_response().output_parsed == Answer(answer=42)


class GetWeather(pydantic.BaseModel):
    city: str


def test_parsed_calls(client: openai.OpenAI) -> None:
    tool = openai.pydantic_function_tool(GetWeather, name="get_weather")
    parsed = client.responses.parse(model="scripted", input="weather?", tools=[tool])  # type: ignore[list-item]
    assert parsed.output[-1].parsed_arguments == GetWeather(city='Zürich "ZH"')  # type: ignore[union-attr]


def test_a_broken_demand(client: openai.OpenAI) -> None:
    tools: Any = [{**tool, "strict": True} if tool["type"] == "function" else tool for tool in TOOLS]
    with pytest.raises(openai.InternalServerError) as refused:
        client.responses.create(model="scripted", input="broken", tools=tools)
    assert refused.value.code == "tool_call_invalid"
    with client.responses.stream(model="scripted", input="broken", tools=tools) as stream:
        last = list(stream)[-1]
    assert last.type == "response.failed"
    assert last.response.error.code == "server_error"
    assert client.responses.retrieve(last.response.id).status == "failed"


def test_errors(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        client.responses.create(model="nope", input="hi")
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as missing:
        client.responses.create(model="scripted", input="hi", previous_response_id="resp_nope")
    assert (missing.value.code, missing.value.param) == ("previous_response_not_found", "previous_response_id")
    with pytest.raises(openai.BadRequestError, match=r"No tool call found for function call output with call_id call_x\."):
        client.responses.create(
            model="scripted", input=[{"type": "function_call_output", "call_id": "call_x", "output": "sunny"}]
        )


def test_responses_are_kept_listed_and_deleted(client: openai.OpenAI, gateway: Gateway) -> None:
    first = client.responses.create(model="scripted", input="hi")
    second = client.responses.create(model="scripted", input="again", previous_response_id=first.id)
    assert client.responses.retrieve(second.id).to_dict() == second.to_dict()
    listed = client.responses.input_items.list(second.id, order="asc", limit=2)
    assert [item.role for item in listed.data] == ["user", "assistant"]  # type: ignore[union-attr]
    assert listed.has_more
    assert [item.content[0].text for item in client.responses.input_items.list(second.id, order="asc", limit=1)] == [  # type: ignore[union-attr]
        "hi",
        "Hello 👋!",
        "again",
    ]
    with openai.OpenAI(base_url=gateway.base_url, api_key="y", max_retries=0) as other, pytest.raises(openai.NotFoundError):
        other.responses.retrieve(second.id)
    client.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(first.id)
    with pytest.raises(openai.BadRequestError):
        client.responses.create(model="scripted", input="more", previous_response_id=second.id)


def test_what_is_not_stored_is_not_kept(ask: Any, client: openai.OpenAI) -> None:
    answer = ask("hi", store=False)
    assert answer.to_dict()["store"] is False
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(answer.id)


def test_instructions_are_of_one_response_only(client: openai.OpenAI) -> None:
    first = client.responses.create(model="scripted", input="hi", instructions="one two three four five six")
    plain = client.responses.create(model="scripted", input="hi", previous_response_id=first.id)
    again = client.responses.create(
        model="scripted", input="hi", previous_response_id=first.id, instructions="one two three four five six"
    )
    assert plain.usage is not None
    assert again.usage is not None
    assert again.usage.input_tokens > plain.usage.input_tokens


def test_input_tokens(client: openai.OpenAI) -> None:
    counted = client.responses.input_tokens.count(model="scripted", input="one two three", tools=TOOLS)  # type: ignore[arg-type]
    spent = client.responses.create(model="scripted", input="one two three", tools=TOOLS).usage  # type: ignore[arg-type]
    assert spent is not None
    assert counted.input_tokens == spent.input_tokens


def test_background(client: openai.OpenAI) -> None:
    begun = client.responses.create(model="scripted", input="weather?", tools=TOOLS, background=True)  # type: ignore[arg-type]
    assert (begun.status, begun.output) == ("queued", [])
    assert wait_for(lambda: client.responses.retrieve(begun.id).status == "completed")
    done = client.responses.retrieve(begun.id)
    assert done.background
    assert calls(done) == [("get_weather", {"city": 'Zürich "ZH"'})]
    assert client.responses.cancel(begun.id).status == "completed"


def test_a_background_stream_is_taken_up_again(client: openai.OpenAI) -> None:
    with client.responses.create(model="scripted", input="hi", background=True, stream=True) as stream:
        events = list(stream)
    assert [event.type for event in events[:3]] == ["response.created", "response.queued", "response.in_progress"]
    begun = events[0].response.id  # type: ignore[union-attr]
    with client.responses.retrieve(begun, stream=True, starting_after=4) as again:
        assert [event.to_dict() for event in again] == [event.to_dict() for event in events[5:]]


def test_a_background_response_goes_on_until_it_is_cancelled(client: openai.OpenAI, gateway: Gateway) -> None:
    with client.responses.create(model="scripted", input="slow", background=True, stream=True) as stream:
        begun = next(iter(stream)).response.id  # type: ignore[union-attr]
        assert any(event.type == "response.output_text.delta" for event in stream)
    time.sleep(0.2)
    assert gateway.running() == 1
    left = client.responses.cancel(begun)
    assert left.status == "cancelled"
    assert left.output[0].status == "incomplete"  # type: ignore[union-attr]
    assert gateway.wait_until_idle()
    assert client.responses.retrieve(begun).status == "cancelled"


def test_only_background_responses_are_cancelled(client: openai.OpenAI) -> None:
    answer = client.responses.create(model="scripted", input="hi")
    with pytest.raises(openai.BadRequestError):
        client.responses.cancel(answer.id)


def test_a_client_that_goes_away_stops_the_generation(client: openai.OpenAI, gateway: Gateway) -> None:
    with client.responses.create(model="scripted", input="slow", stream=True) as stream:
        next(iter(stream))
        assert wait_for(lambda: gateway.running() == 1)
    assert gateway.wait_until_idle()


@pytest.mark.skipif(PROGRAM is None, reason=MISSING)
def test_replicas_share_a_redis(tmp_path: Path) -> None:
    with redis_server() as url:
        settings = {"store": {"kind": "redis", "url": url}, "models": [replay_model(tmp_path, TURNS)]}
        with serving(settings) as one, serving(settings) as other:
            clients = [openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) for gateway in (one, other)]
            first = clients[0].responses.create(model="scripted", input="weather?", tools=TOOLS)  # type: ignore[arg-type]
            output: Any = {"type": "function_call_output", "call_id": first.output[-1].call_id, "output": "sunny"}  # type: ignore[union-attr]
            answer = clients[1].responses.create(model="scripted", input=[output], previous_response_id=first.id)
            assert answer.output_text == "It is sunny in Zürich."
            assert clients[0].responses.retrieve(answer.id).to_dict() == answer.to_dict()
            for client in clients:
                client.close()


@pytest.mark.skipif(PROGRAM is None, reason=MISSING)
def test_what_runs_in_the_background_is_cancelled_when_the_gateway_stops(tmp_path: Path) -> None:
    with redis_server() as url:
        settings = {"store": {"kind": "redis", "url": url}, "models": [replay_model(tmp_path, TURNS)]}
        with serving(settings) as stopped, openai.OpenAI(base_url=stopped.base_url, api_key="x", max_retries=0) as client:
            begun = client.responses.create(model="scripted", input="slow", background=True)
        with serving(settings) as started, openai.OpenAI(base_url=started.base_url, api_key="x", max_retries=0) as client:
            assert client.responses.retrieve(begun.id).status == "cancelled"
