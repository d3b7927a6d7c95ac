"""A stream that fails, wherever it does, ends in its protocol's own failure and in nothing that looks like an end."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from anthropic.types import ErrorResponse as AnthropicError
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from gateway.chat.events import Batch
from gateway.errors import BackendBusy, BackendUnavailable, ContextTooLong, GatewayError, ToolCallInvalid
from gateway.protocols.chat_completions import encode as chat
from gateway.protocols.chat_completions.shape import Shape as ChatShape
from gateway.protocols.messages import encode as messages
from gateway.protocols.messages.shape import Shape as MessagesShape
from gateway.protocols.profiles import PROFILES
from gateway.protocols.responses import encode as responses
from gateway.protocols.responses.decode import echo_of
from gateway.protocols.responses.schema import ResponsesRequest
from gateway.protocols.responses.shape import Shape as ResponsesShape
from gateway.protocols.responses.tools import decoded_tools
from gateway.settings import Limits
from parsers import ContentDelta, Event, ReasoningDelta, ToolCallArguments, ToolCallEnd, ToolCallStart

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
ERRORS: list[tuple[GatewayError, str, str]] = [
    (ToolCallInvalid("It broke."), "server_error", "api_error"),
    (BackendUnavailable("It broke."), "server_error", "overloaded_error"),
    (BackendBusy("It broke.", retry_after=1), "rate_limit_exceeded", "rate_limit_error"),
    (ContextTooLong("It broke."), "context_length_exceeded", "invalid_request_error"),
]
"""With the code of a response that fails so, and Anthropic's type."""


@st.composite
def begun(draw: st.DrawFn) -> list[Event]:
    """A turn as far as it came."""
    text = st.text(min_size=1, max_size=5)
    events: list[Event] = draw(st.lists(st.one_of(st.builds(ContentDelta, text), st.builds(ReasoningDelta, text)), max_size=4))
    for index in range(draw(st.integers(0, 2))):
        events += [ToolCallStart(index, "f"), ToolCallArguments(index, '{"a": 1}'), ToolCallEnd(index)]
    return events[: draw(st.integers(0, len(events)))]


def of_chat(profile: str) -> Callable[[], Any]:
    return lambda: chat.StreamEncoder(ChatShape(token="0" * 24, created=1, model="m", profile=PROFILES[profile]))  # type: ignore[index]


def of_responses() -> Any:
    echo = echo_of(ResponsesRequest(model="m", input="hi"), decoded_tools([], Limits()))
    return responses.StreamEncoder(ResponsesShape(token="0" * 24, created=1, echo=echo))


def of_messages() -> Any:
    return messages.StreamEncoder(MessagesShape("0" * 24, "m"))


def failed(encoder: Any, events: list[Event], error: GatewayError) -> list[str]:
    text = encoder.opening() + b"".join(encoder.encode([Batch(0, [event])]) for event in events) + encoder.failure(error)
    *frames, end = text.decode("ascii").split("\n\n")
    assert end == ""
    return frames


def data_of(frame: str) -> Any:
    return json.loads(frame.partition("data: ")[2])


@pytest.mark.parametrize("wire", [*PROFILES])
@settings(max_examples=60, deadline=None)
@given(begun(), st.sampled_from(ERRORS))
def test_chat_ends_in_an_error_object(wire: str, events: list[Event], how: tuple[GatewayError, str, str]) -> None:
    *before, last = failed(of_chat(wire)(), events, how[0])
    assert data_of(last) == how[0].body()
    assert all("error" not in data_of(frame) for frame in before)
    assert all(choice["finish_reason"] is None for frame in before for choice in data_of(frame)["choices"])


@settings(max_examples=60, deadline=None)
@given(begun(), st.sampled_from(ERRORS))
def test_responses_end_in_a_response_that_failed(events: list[Event], how: tuple[GatewayError, str, str]) -> None:
    *before, last = map(data_of, failed(of_responses(), events, how[0]))
    told = [EVENT.validate_python(frame) for frame in before]
    assert [frame.type for frame in told if frame.type.startswith(("response.completed", "response.incomplete"))] == []
    assert [frame.sequence_number for frame in told] == list(range(last["sequence_number"]))
    response = last["response"]
    assert (last["type"], response["status"]) == ("response.failed", "failed")
    assert response["error"] == {"code": how[1], "message": "It broke."}
    begun_items = [frame.item.id for frame in told if frame.type == "response.output_item.added"]
    assert [item["id"] for item in response["output"]] == begun_items


@settings(max_examples=60, deadline=None)
@given(begun(), st.sampled_from(ERRORS))
def test_messages_end_in_an_error_event(events: list[Event], how: tuple[GatewayError, str, str]) -> None:
    *before, last = failed(of_messages(), events, how[0])
    assert last.startswith("event: error\n")
    error = AnthropicError.model_validate(data_of(last)).error
    assert error.type == how[2]
    assert error.message.endswith("It broke.")
    assert {data_of(frame)["type"] for frame in before}.isdisjoint({"error", "message_delta", "message_stop"})
