"""Responses over a WebSocket, with the official client and with a plain one."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import openai
import pytest
from openai.types.responses.response_steer_failed_event import ResponseSteerFailedEvent

from tests.support.planned import hermes_call
from tests.support.server import CLIENT, PATIENCE, SLOW_TURN, Gateway, replay_model, serving

websockets = pytest.importorskip("websockets.sync.client")

TURNS = [
    {"match": "sunny", "role": "tool", "text": "It is sunny."},
    {"match": "weather", "text": hermes_call()},
    SLOW_TURN,
    {"match": "broken", "text": hermes_call(arguments={"town": 1})},
    {"match": None, "text": "Hello!"},
]
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
TOOLS: Any = [{"type": "function", "name": "get_weather", "parameters": CITY}]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving({"models": [replay_model(tmp_path_factory.mktemp("turns"), TURNS)]}) as running:
        yield running


@pytest.fixture
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


@pytest.fixture
def socket(gateway: Gateway) -> Iterator[Any]:
    url = f"{gateway.base_url}/responses".replace("http://", "ws://")
    options = {"additional_headers": {"Authorization": "Bearer x"}, "close_timeout": 1}  # what is still sent then is not read
    with websockets.connect(url, **options) as connection:
        yield connection


def create(socket: Any, given: Any = "hi", **fields: Any) -> None:
    socket.send(json.dumps({"type": "response.create", "model": "scripted", "input": given, **fields}))


ENDS = ("response.completed", "response.incomplete", "response.failed", "error")


def answer(socket: Any) -> list[dict[str, Any]]:
    """The events of the next answer."""
    events: list[dict[str, Any]] = []
    while not events or events[-1]["type"] not in ENDS:
        events.append(json.loads(socket.recv(timeout=PATIENCE)))
    return events


def text(events: Sequence[dict[str, Any]]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")


def test_the_official_client(client: openai.OpenAI) -> None:
    with client.responses.connect() as connection:
        connection.response.create(model="scripted", input="weather?", tools=TOOLS)
        last: Any = None
        for event in connection:
            last = event
            if event.type in ENDS:
                break
        assert last.type == "response.completed"
        made = last.response.output[0]
        output = {"type": "function_call_output", "call_id": made.call_id, "output": "sunny"}
        connection.response.create(model="scripted", input=[output], previous_response_id=last.response.id, tools=TOOLS)  # type: ignore[list-item]
        for event in connection:
            last = event
            if event.type in ENDS:
                break
        assert last.response.output[0].content[0].text == "It is sunny."


def test_the_events_are_those_of_the_stream(gateway: Gateway, socket: Any) -> None:
    create(socket, "weather?", tools=TOOLS, stream=True)
    events = answer(socket)
    posted = CLIENT.post(
        f"{gateway.base_url}/responses",
        json={"model": "scripted", "input": "weather?", "tools": TOOLS, "stream": True},
    )
    streamed = [json.loads(frame.partition("\ndata: ")[2]) for frame in posted.text.split("\n\n")[:-1]]
    assert [event["type"] for event in events] == [event["type"] for event in streamed]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event.keys() for event in events] == [event.keys() for event in streamed]


def test_what_is_not_stored_is_remembered_by_its_connection_only(gateway: Gateway, socket: Any) -> None:
    create(socket, "weather?", tools=TOOLS, store=False)
    first = answer(socket)[-1]["response"]
    output = {"type": "function_call_output", "call_id": first["output"][0]["call_id"], "output": "sunny"}
    create(socket, [output], tools=TOOLS, store=False, previous_response_id=first["id"])
    assert text(answer(socket)) == "It is sunny."
    body = {"model": "scripted", "input": [output], "tools": TOOLS, "previous_response_id": first["id"]}
    refused = CLIENT.post(f"{gateway.base_url}/responses", json=body, headers={"Authorization": "Bearer x"})
    assert refused.json()["error"]["code"] == "previous_response_not_found"
    create(socket, previous_response_id="resp_nope")
    (error,) = answer(socket)
    assert (error["status"], error["error"]["code"]) == (400, "previous_response_not_found")
    create(socket)
    kept = answer(socket)[-1]["response"]
    assert CLIENT.get(f"{gateway.base_url}/responses/{kept['id']}", headers={"Authorization": "Bearer x"}).json() == kept


def test_a_warm_up_has_no_turn_and_can_be_referred_to(gateway: Gateway, socket: Any) -> None:
    create(socket, "weather?", tools=TOOLS, store=False, generate=False)
    events = answer(socket)
    assert [event["type"] for event in events] == ["response.created", "response.in_progress", "response.completed"]
    warm = events[-1]["response"]
    assert (warm["output"], warm["usage"]["total_tokens"]) == ([], 0)
    create(socket, [], tools=TOOLS, store=False, previous_response_id=warm["id"])
    assert answer(socket)[-1]["response"]["output"][0]["type"] == "function_call"
    create(socket, model="nope", generate=False)
    assert answer(socket)[-1]["error"]["code"] == "model_not_found"


def test_streams_run_side_by_side_and_each_in_order(socket: Any) -> None:
    create(socket, "slow", stream_id="slow")
    while json.loads(socket.recv(timeout=PATIENCE))["type"] != "response.output_text.delta":
        pass
    create(socket, "hi", stream_id="quick")
    create(socket, "weather?", stream_id="quick", tools=TOOLS)
    seen = []
    while len([event for event in seen if event["type"] == "response.completed"]) < 2:
        event = json.loads(socket.recv(timeout=PATIENCE))
        if event["stream_id"] == "quick":
            seen.append(event)
    kinds = [event["response"]["output"][0]["type"] for event in seen if event["type"] == "response.completed"]
    assert kinds == ["message", "function_call"]
    numbers = [event["sequence_number"] for event in seen]
    assert numbers == [*range(numbers.index(0, 1)), *range(len(numbers) - numbers.index(0, 1))]


@pytest.mark.parametrize(
    ("message", "code", "param"),
    [
        ("hello", None, None),
        ("[]", None, None),
        ("{}", "missing_required_parameter", "type"),
        ('{"type": "response.stir"}', "invalid_value", "type"),
        ('{"type": "response.create"}', "missing_required_parameter", "model"),
        ('{"type": "response.create", "model": "scripted", "input": "hi", "stream_id": "a b"}', "invalid_value", "stream_id"),
        (
            '{"type": "response.create", "model": "scripted", "input": "hi", "background": true}',
            "unsupported_parameter",
            "background",
        ),
        ('{"type": "response.create", "model": "nope", "input": "hi"}', "model_not_found", "model"),
    ],
)
def test_bad_messages(socket: Any, message: str, code: str | None, param: str | None) -> None:
    socket.send(message)
    (error,) = answer(socket)
    assert error["error"].keys() == {"message", "type", "param", "code"}
    assert (error["error"]["code"], error["error"]["param"]) == (code, param)
    create(socket, stream_id="on")
    assert text(answer(socket)) == "Hello!"


def test_steering_gives_the_input_back(socket: Any) -> None:
    create(socket, "slow", stream_id="slow")
    running = json.loads(socket.recv(timeout=PATIENCE))["response"]["id"]
    socket.send(json.dumps({"type": "response.steer", "previous_response_id": running, "input": "left, please"}))
    while (event := json.loads(socket.recv(timeout=PATIENCE)))["type"] != "response.steer.failed":
        assert event["stream_id"] == "slow"
    failed = ResponseSteerFailedEvent.model_validate(event)
    assert failed.error.code == "steering_not_supported"
    assert (failed.steer.previous_response_id, failed.steer.input) == (running, "left, please")


def test_a_conversation_goes_on_over_a_socket(gateway: Gateway, socket: Any) -> None:
    made = CLIENT.post(f"{gateway.base_url}/conversations", json={}, headers={"Authorization": "Bearer x"}).json()
    create(socket, "weather?", tools=TOOLS, conversation=made["id"])
    call = answer(socket)[-1]["response"]["output"][-1]
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}
    create(socket, [output], tools=TOOLS, conversation=made["id"])
    assert text(answer(socket)) == "It is sunny."


def test_a_failure_is_told_in_the_stream(socket: Any) -> None:
    create(socket, "broken", tools=[{**TOOLS[0], "strict": True}])
    events = answer(socket)
    assert events[-1]["type"] == "response.failed"
    assert events[-1]["response"]["error"]["code"] == "server_error"


def test_too_many_requests_at_once(socket: Any) -> None:
    for number in range(70):
        create(socket, "slow", stream_id=str(number))
    while (event := json.loads(socket.recv(timeout=PATIENCE)))["type"] != "error":
        pass
    assert event["error"]["code"] == "websocket_stream_limit_reached"


def test_a_client_that_leaves_stops_its_generations(gateway: Gateway) -> None:
    assert gateway.wait_until_idle()
    url = f"{gateway.base_url}/responses".replace("http://", "ws://")
    with websockets.connect(url) as connection:
        create(connection, "slow", stream_id="a")
        create(connection, "slow", stream_id="b")
        while gateway.running() < 2:
            connection.recv(timeout=PATIENCE)
    assert gateway.wait_until_idle()
