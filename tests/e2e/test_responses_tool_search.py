"""Tools that are found before they are called: by the gateway within one response, or by the client between two."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.responses import Response

from tests.support.server import Gateway, replay_model, serving

pytest.importorskip("bm25s")


def call(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


TURNS = [
    {"match": "No tool was found", "role": "tool", "text": "There is no such tool."},
    {
        "match": "crm__get_customer",
        "role": "tool",
        "text": "<think>\nFound.\n</think>\n\n" + call("crm__get_customer", '{"id": 7}'),
    },
    {"match": "Anna", "role": "tool", "text": "Customer 7 is Anna."},
    {"match": "customer", "text": "I will look.\n" + call("tool_search", '{"query": "look up a customer"}')},
    {"match": "nothing", "text": call("tool_search", '{"query": "zzz"}')},
    {"match": "mixed", "text": call("tool_search", '{"query": "mails"}') + "\n" + call("ping", "{}")},
    {"match": "direct", "text": call("send_mail", '{"to": "x"}')},
    {"match": None, "text": "Hello!"},
]


def function(name: str, description: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": False}
    return {"type": "function", "name": name, "description": description, "parameters": schema, "strict": False, **more}


CRM = {
    "type": "namespace",
    "name": "crm",
    "description": "Everything about customers",
    "tools": [
        function("get_customer", "Looks a customer up by number", defer_loading=True),
        function("list_invoices", "Bills of the accounting department", defer_loading=True),
    ],
}
TOOLS = [
    {"type": "tool_search"},
    CRM,
    function("send_mail", "Sends an e-mail", defer_loading=True, parameters=None),
    {"type": "function", "name": "ping"},
]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("turns")
    endless = [{"match": None, "role": role, "text": call("tool_search", '{"query": "mails"}')} for role in ("tool", "user")]
    with serving({"models": [replay_model(folder, TURNS), replay_model(folder, endless, name="endless")]}) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


@pytest.fixture(params=["whole", "streamed"])
def ask(request: pytest.FixtureRequest, client: openai.OpenAI) -> Any:
    def asked(given: Any, **fields: Any) -> Response:
        wanted = {"model": "scripted", "input": given, **fields}
        if request.param == "whole":
            return client.responses.create(**wanted)
        with client.responses.stream(**wanted) as stream:
            return stream.get_final_response()

    return asked


def kinds(answer: Response) -> list[str]:
    return [item.type for item in answer.output]


def test_the_gateway_searches_and_the_model_goes_on(ask: Any) -> None:
    answer = ask("customer 7", tools=TOOLS)
    assert kinds(answer) == ["message", "tool_search_call", "tool_search_output", "reasoning", "function_call"]
    search, found, made = answer.output[1], answer.output[2], answer.output[4]
    assert (search.execution, search.call_id, search.arguments) == ("server", None, {"query": "look up a customer"})
    assert (found.execution, found.call_id, found.status) == ("server", None, "completed")
    space = found.to_dict()["tools"][0]
    assert (space["type"], space["name"], space["tools"][0]["name"]) == ("namespace", "crm", "get_customer")
    assert space["tools"][0] == {**CRM["tools"][0]}  # type: ignore[index]
    assert (made.namespace, made.name, json.loads(made.arguments)) == ("crm", "get_customer", {"id": 7})
    assert answer.usage.output_tokens > 20


@pytest.mark.parametrize("chained", [True, False])
def test_tools_that_were_found_stay(ask: Any, chained: bool) -> None:
    first = ask("customer 7", tools=TOOLS)
    output = {"type": "function_call_output", "call_id": first.output[-1].call_id, "output": "Anna"}
    if chained:
        answer = ask([output], previous_response_id=first.id, tools=TOOLS)
    else:
        items = [item.to_dict() for item in first.output]
        answer = ask([{"role": "user", "content": "customer 7"}, *items, output], tools=TOOLS)
    assert answer.output_text == "Customer 7 is Anna."


def test_what_is_deferred_costs_no_tokens_until_it_is_found(client: openai.OpenAI) -> None:
    def tokens(tools: Any) -> int:
        return client.responses.input_tokens.count(model="scripted", input="hi", tools=tools).input_tokens

    many = [function(f"tool_{number}", "Does a great many things " * 10, defer_loading=True) for number in range(20)]
    crowd = {"type": "namespace", "name": "crowd", "description": "many tools", "tools": many}
    assert tokens([{"type": "tool_search"}, crowd]) < 0.2 * tokens([crowd])


def test_a_deferred_tool_cannot_be_called_before_it_is_found(ask: Any) -> None:
    answer = ask("direct", tools=TOOLS)
    assert kinds(answer) == ["message"]
    assert "send_mail" in answer.output_text
    demanded = ask("direct", tools=TOOLS, tool_choice={"type": "function", "name": "send_mail"})
    assert kinds(demanded) == ["function_call"]


def test_a_search_that_finds_nothing(ask: Any) -> None:
    answer = ask("nothing", tools=TOOLS)
    assert kinds(answer) == ["tool_search_call", "tool_search_output", "message"]
    assert answer.output[1].tools == []


def test_a_model_that_only_searches_is_stopped(ask: Any) -> None:
    answer = ask("hi", model="endless", tools=TOOLS)
    assert kinds(answer).count("tool_search_call") == 8
    assert kinds(answer)[-1] == "message"
    assert kinds(ask("hi", model="endless", tools=TOOLS, max_tool_calls=2)).count("tool_search_call") == 2


def test_calls_beside_a_search_are_the_clients_to_run(ask: Any) -> None:
    answer = ask("mixed", tools=TOOLS)
    assert kinds(answer) == ["tool_search_call", "function_call", "tool_search_output"]


def test_the_client_searches(ask: Any) -> None:
    parameters = {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}}
    search = {"type": "tool_search", "execution": "client", "description": "Finds tools.", "parameters": parameters}
    first = ask("customer 7", tools=[search])
    assert kinds(first) == ["message", "tool_search_call"]
    made = first.output[1]
    assert (made.execution, made.arguments) == ("client", {"query": "look up a customer"})
    loaded = {**CRM, "tools": [{**CRM["tools"][0], "defer_loading": True}]}  # type: ignore[index]
    output = {"type": "tool_search_output", "call_id": made.call_id, "execution": "client", "tools": [loaded]}
    answer = ask([output], previous_response_id=first.id, tools=[search])
    assert kinds(answer) == ["reasoning", "function_call"]
    assert (answer.output[1].namespace, answer.output[1].name) == ("crm", "get_customer")


def test_only_one_search(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(model="scripted", input="hi", tools=[{"type": "tool_search"}, {"type": "tool_search"}])
    assert refused.value.param == "tools"


def test_without_anything_to_find_everything_is_loaded(client: openai.OpenAI) -> None:
    raw = client.responses.with_raw_response.create(model="scripted", input="hi", tools=[{"type": "tool_search"}])
    assert "tool_search has nothing to find" in raw.headers["x-toolwire-warnings"]
    answer = client.responses.create(model="scripted", input="direct", tools=TOOLS[1:])  # type: ignore[arg-type]
    assert kinds(answer) == ["function_call"]
