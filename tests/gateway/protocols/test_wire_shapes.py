"""What streams look like, frame by frame: as they were written down, as the official clients' types demand, and, where recorded
streams of other servers are at hand, as those do."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from anthropic.types import ErrorResponse as AnthropicError
from anthropic.types import RawMessageStreamEvent
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from tests.support import shapes, traces
from tests.support.shapes import PROTOCOLS, Turn

RESPONSES: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
MESSAGES: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
READERS: dict[str, Callable[[Any], Turn]] = {
    "chat": traces.chat_turn,
    "responses": traces.responses_turn,
    "messages": traces.messages_turn,
}
OURS = [(protocol, name) for protocol, (_, turns) in PROTOCOLS.items() for name in turns]
THEIRS = [(protocol, name) for protocol in PROTOCOLS for name in traces.scenarios(protocol)]
DIFFERENT = {
    "usage": re.compile(r"_details\."),  # what is not counted here is not told as 0
    "reasoning_summary": re.compile(r"^\.item\.content is missing"),  # thinking is told once: as the summary
    "incomplete": re.compile(r"\.status is 'incomplete', not 'completed'"),  # an item that was cut says so
}
"""What is different on purpose. The first is so everywhere."""
recorded = pytest.mark.skipif(traces.folder() is None, reason=traces.ABSENT)


def accept(protocol: str, frames: list[Any]) -> None:
    """Every frame is what the official client's types say. They know no custom tools in chunks, and no error as an event."""
    for frame in frames:
        if frame == "[DONE]" or '"custom"' in str(frame).replace("'", '"'):
            continue
        if "error" in frame and frame.get("type") in (None, "error"):
            assert protocol != "messages" or AnthropicError.model_validate(frame)
        elif protocol == "chat":
            ChatCompletionChunk.model_validate(frame)
        else:
            (RESPONSES if protocol == "responses" else MESSAGES).validate_python(frame)


@pytest.mark.parametrize(("protocol", "name"), OURS)
def test_streams_look_as_they_were_written_down(protocol: str, name: str) -> None:
    frames, turns = PROTOCOLS[protocol]
    assert shapes.shapes(frames(turns[name])) == shapes.committed(protocol)[name], "see `python -m tests.support.shapes`"


def test_every_shape_that_was_written_down_is_of_a_turn() -> None:
    assert {protocol: [*shapes.committed(protocol)] for protocol in PROTOCOLS} == {
        protocol: [*turns] for protocol, (_, turns) in PROTOCOLS.items()
    }


@pytest.mark.parametrize(("protocol", "name"), OURS)
def test_official_types_accept_every_frame(protocol: str, name: str) -> None:
    frames, turns = PROTOCOLS[protocol]
    accept(protocol, frames(turns[name]))


def test_a_response_tells_every_field() -> None:
    told = {
        "background", "completed_at", "conversation", "created_at", "error", "id", "incomplete_details", "instructions",
        "max_output_tokens", "max_tool_calls", "metadata", "model", "object", "output", "parallel_tool_calls",
        "previous_response_id", "prompt_cache_key", "reasoning", "safety_identifier", "service_tier", "status", "store",
        "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "usage", "user",
    }  # fmt: skip
    assert shapes.responses_frames(shapes.TURNS["text"])[-1]["response"].keys() == told


@recorded
@pytest.mark.parametrize(("protocol", "name"), THEIRS)
def test_streams_tell_all_that_recorded_ones_do(protocol: str, name: str) -> None:
    if name in traces.ELSEWHERE:
        pytest.skip(traces.ELSEWHERE[name])
    theirs = traces.scenarios(protocol)[name]
    ours = PROTOCOLS[protocol][0](READERS[protocol](theirs))
    accept(protocol, theirs)
    accept(protocol, ours)
    one, other = traces.collapsed(ours), traces.collapsed(theirs)
    assert [traces.kind_of(frame) for frame in one] == [traces.kind_of(frame) for frame in other]
    problems = [problem for mine, frame in zip(one, other, strict=True) for problem in traces.uncovered(mine, frame)]
    different = [DIFFERENT["usage"], *(pattern for scenario, pattern in DIFFERENT.items() if scenario == name)]
    assert [problem for problem in problems if not any(pattern.search(problem) for pattern in different)] == []


@recorded
def test_every_event_has_the_fields_that_the_specification_requires() -> None:
    table = traces.table("events.json")
    if table is None:
        pytest.skip(traces.ABSENT)
    told: dict[str, list[Any]] = {}
    for turn in shapes.OF_RESPONSES.values():
        for frame in shapes.responses_frames(turn):
            told.setdefault(frame["type"], []).append(frame)
    never = ("response.refusal.", "error")  # models here refuse in words, and a failure is a response that failed
    for event in table["responses_sse"]:
        name = event["type"]
        lacks = {field for frame in told.get(name, ()) for field in event["required"] if field not in frame}
        assert (name, lacks) == (name, set())
        if event["scope"] == "core":
            assert name in told or name.startswith(never), f"{name} is never told"
