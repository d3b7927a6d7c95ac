"""Strict tools and answers as clients of the official library meet them: refused, held, asked for again, declined."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.support.server import Gateway, replay_model, serving


def call(name: str, arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


TURNS = [
    {"match": "breaks the tool's schema", "role": "tool", "text": call("count", {"n": 3})},
    {"match": "bad", "text": "Let me count.\n" + call("count", {"n": "three"})},
    {"match": "quoted", "text": call("count", {"n": "3"})},
    {"match": "decline", "text": call("answer_without_tool", {"answer": "There is no such tool."})},
    {"match": "prose", "text": "Three."},
    {"match": None, "text": call("count", {"n": 3})},
]
SHAPE = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
OPEN = {"type": "object", "properties": {"n": {"type": "integer"}}}


def tool(schema: Any = SHAPE, *, strict: bool = True) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "count", "parameters": schema, "strict": strict}}


SECOND: Any = {"type": "function", "function": {"name": "b", "parameters": OPEN, "strict": True}}
CLOSED = "'additionalProperties' is required to be supplied and to be false."
FORMAT = {"type": "json_schema", "json_schema": {"name": "counted", "schema": SHAPE, "strict": True}}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder: Path = tmp_path_factory.mktemp("turns")
    entries: dict[str, dict[str, Any]] = {
        "plain": {},
        "stubborn": {"strict": "retry"},
        "repairing": {"strict_policy": "repair"},
        "lenient": {"strict_policy": "lenient"},
        "declining": {"required_fallback": "no_tool"},
    }
    with serving({"models": [replay_model(folder, TURNS, name=name, **entry) for name, entry in entries.items()]}) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


@pytest.fixture(params=["whole", "streamed"])
def ask(request: pytest.FixtureRequest, client: openai.OpenAI) -> Any:
    """The message and finish reason of one answer."""

    def asked(text: str, model: str = "plain", **fields: Any) -> tuple[Any, str]:
        given: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": text}], **fields}
        if request.param == "whole":
            choice = client.chat.completions.create(**given).choices[0]
            return choice.message, str(choice.finish_reason)
        with client.chat.completions.stream(**given) as stream:
            for _ in stream:
                pass
            snapshot = stream._state.current_completion_snapshot.choices[0]
            return snapshot.message, str(snapshot.finish_reason)

    return asked


def arguments(message: Any) -> list[str]:
    return [made.function.arguments for made in message.tool_calls or []]


def test_a_schema_that_breaks_the_rules_is_refused_in_openais_words(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(
            model="plain", messages=[{"role": "user", "content": "x"}], tools=[tool(), SECOND], tool_choice="none"
        )
    assert refused.value.body == {
        "message": f"Invalid schema for function 'b': In context=(), {CLOSED}",
        "type": "invalid_request_error",
        "param": "tools[1].function.parameters",
        "code": "invalid_function_parameters",
    }


def test_an_answers_schema_too(client: openai.OpenAI) -> None:
    wanted: Any = {"type": "json_schema", "json_schema": {"name": "counted", "schema": OPEN, "strict": True}}
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model="plain", messages=[{"role": "user", "content": "x"}], response_format=wanted)
    assert (refused.value.param, refused.value.code) == ("response_format", None)
    assert "Invalid schema for response_format 'counted': In context=()" in refused.value.message


def test_other_entries_take_such_schemas(ask: Any, gateway: Gateway) -> None:
    for model in ("repairing", "lenient"):
        assert arguments(ask("x", model, tools=[tool(OPEN)])[0]) == ['{"n": 3}']
    body = {"model": "repairing", "messages": [{"role": "user", "content": "x"}], "tools": [tool(OPEN)]}
    warnings = gateway.post(body).headers["x-toolwire-warnings"]
    assert (
        "schema of function 'count' was narrowed: additionalProperties set to false in context=(), required completed" in warnings
    )


def test_an_invalid_call_fails_and_names_tool_and_place(gateway: Gateway) -> None:
    body = {"model": "plain", "messages": [{"role": "user", "content": "bad"}], "tools": [tool()]}
    whole = gateway.post(body)
    assert whole.status_code == 502
    error = whole.json()["error"]
    assert (error["code"], error["type"]) == ("tool_call_invalid", "server_error")
    assert error["message"] == "The model's call to 'count' breaks the tool's schema: ['n'] breaks properties/n/type."
    assert whole.headers["x-should-retry"] == "false"
    assert "calls are checked once they are written" in whole.headers["x-toolwire-warnings"]
    streamed = gateway.post({**body, "stream": True})
    *frames, last, end = streamed.text.split("\n\n")
    assert json.loads(last.removeprefix("data: "))["error"] == error
    assert end == ""
    assert "tool_calls" not in "".join(frames)
    assert "three" not in streamed.text


def test_it_is_asked_for_again_where_the_entry_says_so(ask: Any) -> None:
    message, reason = ask("bad", "stubborn", tools=[tool()])
    assert (message.content, arguments(message), reason) == ("Let me count.", ['{"n": 3}'], "tool_calls")


def test_a_value_with_one_reading_is_read(ask: Any) -> None:
    message, reason = ask("quoted", tools=[tool()], tool_choice="required")
    assert (arguments(message), reason) == (['{"n": 3}'], "tool_calls")
    assert arguments(ask("quoted", tools=[tool(OPEN, strict=False)])[0]) == ['{"n": "3"}']


def test_a_model_may_decline_a_required_call_in_words(ask: Any, gateway: Gateway) -> None:
    message, reason = ask("decline", "declining", tools=[tool()], tool_choice="required")
    assert (message.content, message.tool_calls, reason) == ("There is no such tool.", None, "stop")
    body = {"messages": [{"role": "user", "content": "decline"}], "tools": [tool()], "tool_choice": "required"}
    assert gateway.post({"model": "plain", **body}).status_code == 502
    assert "answer_without_tool" not in gateway.post({"model": "declining", **body}).text


def test_an_answer_or_a_call(ask: Any, gateway: Gateway) -> None:
    message, reason = ask("x", tools=[tool()], response_format=FORMAT)
    assert (arguments(message), reason) == (['{"n": 3}'], "tool_calls")
    body = {"model": "plain", "messages": [{"role": "user", "content": "prose"}], "tools": [tool()], "response_format": FORMAT}
    refused = gateway.post(body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (502, "response_format_invalid")
    assert "Three." not in gateway.post({**body, "stream": True}).text


def test_an_allowed_subset(ask: Any) -> None:
    other = {"type": "function", "function": {"name": "other", "parameters": OPEN}}
    subset = {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "other"}}]},
    }
    message, reason = ask("x", tools=[tool(), other], tool_choice=subset)
    assert (message.tool_calls, reason) == (None, "stop")
    assert "count" in message.content


def test_every_step_is_counted(gateway: Gateway) -> None:
    metrics = gateway.app.house.metrics
    before = (
        metrics.registry.get_sample_value("toolwire_checks_total", {"model": "stubborn", "format": "hermes", "step": "retried"})
        or 0
    )
    gateway.post({"model": "stubborn", "messages": [{"role": "user", "content": "bad"}], "tools": [tool()]})
    after = metrics.registry.get_sample_value(
        "toolwire_checks_total", {"model": "stubborn", "format": "hermes", "step": "retried"}
    )
    assert after == before + 1
