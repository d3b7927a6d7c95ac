"""The stream of a response, read by the official SDK's types and accumulator, is the whole answer."""

import json
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from gateway.chat.events import Batch, TokenLogprob, Usage
from gateway.errors import BackendGarbled
from gateway.protocols.responses.decode import echo_of
from gateway.protocols.responses.encode import StreamEncoder
from gateway.protocols.responses.schema import ResponsesRequest
from gateway.protocols.responses.seal import unsealed
from gateway.protocols.responses.shape import Shape
from gateway.protocols.responses.tool_set import Target
from gateway.protocols.responses.tools import decoded_tools
from gateway.settings import Limits
from parsers import ContentDelta, Event, Finish, Notice, ReasoningDelta, ToolCallArguments, ToolCallEnd, ToolCallStart

USAGE = Usage(prompt_tokens=10, completion_tokens=5, cached_tokens=4, reasoning_tokens=2)
EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
TARGETS = {
    "crm__get": Target("get", "crm"),
    "run": Target("run", kind="custom"),
    "find": Target("tool_search", kind="server_search"),
    "ask": Target("tool_search", kind="client_search"),
}
FOUND = [{"type": "function", "name": "get_weather", "description": "d", "parameters": {}, "strict": True, "defer_loading": True}]
Read = list[Batch] | None
"""What one read of the engine gave; None: the gateway has searched."""


def shape(**wishes: Any) -> Shape:
    request = ResponsesRequest(model="m/é", input="hi")
    echo = echo_of(request, decoded_tools([], Limits()))
    return Shape(token="0123456789abcdef01234567", created=1_700_000_000, echo=echo, targets=TARGETS, **wishes)


def frames(text: bytes) -> list[dict[str, Any]]:
    """The events of a stream, whose frames must be well formed and numbered."""
    found = []
    *blocks, end = text.decode("ascii").split("\n\n")
    assert end == ""
    for number, block in enumerate(blocks):
        name, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        assert event["sequence_number"] == number
        found.append(event)
    return found


def streamed(shape: Shape, reads: Sequence[Read]) -> list[dict[str, Any]]:
    encoder = StreamEncoder(shape)
    return frames(b"".join([encoder.opening(), *(written(encoder, read) for read in reads), encoder.closing(USAGE)]))


def written(encoder: StreamEncoder, read: Read) -> bytes:
    if read is not None:
        return encoder.encode(read)
    encoder.found(FOUND)
    return b""


def one(*events: Event, **wishes: Any) -> list[dict[str, Any]]:
    return streamed(shape(**wishes), [[Batch(0, [event])] for event in events])


def whole(shape: Shape, reads: Sequence[Read]) -> dict[str, Any]:
    """The answer in one piece, from all events between two searches at once."""
    encoder = StreamEncoder(shape)
    for searched, group in groupby(reads, lambda read: read is None):
        if searched:
            encoder.found(FOUND)
        else:
            encoder.encode([batch for read in group for batch in read or ()])
    encoder.conclude(USAGE)
    return {**encoder.result, "completed_at": None}


@st.composite
def turns(draw: st.DrawFn) -> list[Event | None]:
    """A turn's events; None behind those of a search by the gateway."""
    text = st.text(min_size=1, max_size=5)
    words = st.lists(st.one_of(st.builds(ContentDelta, text), st.builds(ReasoningDelta, text)), max_size=4)
    events: list[Event | None] = [*draw(words)]
    count = draw(st.integers(0, 3))
    for index in range(count):
        whole_call = index < count - 1 or draw(st.booleans())
        name = draw(st.sampled_from(["f", "crm__get", "run", "find", "ask"]))
        events.append(ToolCallStart(index, name, None))
        fragments = draw(st.lists(text, max_size=3))
        if name in ("run", "find", "ask") and draw(st.booleans()):
            written = json.dumps({"input" if name == "run" else "query": draw(st.text())}, ensure_ascii=draw(st.booleans()))
            place = draw(st.integers(0, len(written)))
            fragments = [part for part in (written[:place], written[place:]) if part]
        events += [ToolCallArguments(index, fragment) for fragment in fragments]
        events += [ToolCallEnd(index, whole_call), Notice("repaired", "x")]
        events += [None] if name == "find" and whole_call else []
        events += draw(words)
    reason = draw(st.sampled_from(["stop", "length"] + ["tool_calls"] * (count > 0)))
    return [*events, Finish(reason)]


@st.composite
def answers(draw: st.DrawFn) -> tuple[Shape, list[Read]]:
    events = draw(turns())
    reads: list[Read] = []
    while events:
        if events[0] is None:
            reads.append(events.pop(0))
            continue
        size = draw(st.integers(1, 4))
        size = min(size, events.index(None) if None in events else size)
        tokens = [TokenLogprob("x", -0.5, [("y", -1.0)])] if draw(st.booleans()) else None
        reads.append([Batch(0, [event for event in events[:size] if event is not None], tokens)])
        events = events[size:]
    return shape(
        summary=draw(st.booleans()), sealed=draw(st.booleans()), compacts=draw(st.sampled_from([False] * 3 + [True]))
    ), reads


def folded(events: Sequence[dict[str, Any]]) -> tuple[dict[int, Any], list[Any], Any]:
    """What the SDK makes of a stream: the items as their deltas built them, those that it was told, and the last response."""
    state: ResponseStreamState[Any] = ResponseStreamState(input_tools=omit, text_format=omit)
    last: Any = None
    for event in events:
        read = EVENTS.validate_python(event)
        state.handle_event(read)
        last = read
    return state._output_items, [state._completed_output[place] for place in sorted(state._completed_output)], last.response


@settings(max_examples=200, deadline=None)
@given(answers())
def test_the_stream_folded_by_the_sdk_is_the_whole_answer(answer: tuple[Shape, list[Read]]) -> None:
    form, reads = answer
    expected = whole(form, reads)
    built, told, last = folded(streamed(form, reads))
    assert [item.to_dict() for item in told] == [item.to_dict() for item in Response.model_validate(expected).output]
    assert {**last.to_dict(), "completed_at": None} == {**Response.model_validate(expected).to_dict(), "completed_at": None}
    for place, item in enumerate(expected["output"]):
        made = built[place]
        assert (made.id, made.type) == (item["id"], item["type"])
        if item["type"] == "message":
            assert [part.text for part in made.content] == [part["text"] for part in item["content"]]
        elif item["type"] == "function_call":
            assert (made.call_id, made.name, made.arguments) == (item["call_id"], item["name"], item["arguments"])


DELTAS = {
    "response.output_text": "text",
    "response.reasoning_text": "text",
    "response.reasoning_summary_text": "text",
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
}


@settings(max_examples=300, deadline=None)
@given(answers())
def test_every_item_is_announced_written_and_ended_in_order(answer: tuple[Shape, list[Read]]) -> None:
    form, reads = answer
    events = streamed(form, reads)
    output = events[-1]["response"]["output"]
    texts: dict[int, str] = {}
    logprobs: dict[int, list[Any]] = {}
    open_item = -1
    for event in events[2:-1]:
        place = event["output_index"]
        kind, _, phase = event["type"].rpartition(".")
        if event["type"] == "response.output_item.added":
            assert place == open_item + 1
            open_item = place
            texts[place], logprobs[place] = "", []
        assert place == open_item
        assert event.get("item_id", output[place]["id"]) == output[place]["id"]
        if phase == "delta":
            assert event["delta"]
            texts[place] += event["delta"]
            logprobs[place] += event.get("logprobs", [])
        elif kind in DELTAS:
            assert event[DELTAS[kind]] == texts[place]
            assert event.get("logprobs", []) == logprobs[place]
        elif event["type"] == "response.output_item.done":
            assert event["item"] == output[place]
    assert open_item == len(output) - 1


@given(st.text(), st.booleans(), st.lists(st.integers(0, 60), max_size=4))
def test_a_custom_tools_input_arrives_whole_however_it_is_cut(text: str, ascii_only: bool, cuts: list[int]) -> None:
    written = json.dumps({"input": text}, ensure_ascii=ascii_only)
    places = sorted({0, len(written), *(cut for cut in cuts if cut < len(written))})
    fragments = [written[a:b] for a, b in pairwise(places)]
    events = one(
        ToolCallStart(0, "run"), *(ToolCallArguments(0, part) for part in fragments), ToolCallEnd(0), Finish("tool_calls")
    )
    item = events[-1]["response"]["output"][0]
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "run", text)


def test_a_custom_tools_input_is_streamed_and_what_looks_otherwise_is_kept() -> None:
    parts = ['{"input": "ab', "c\\", "n\\ud83d", '\\ude00d"}']
    events = one(ToolCallStart(0, "run"), *(ToolCallArguments(0, part) for part in parts), ToolCallEnd(0), Finish("tool_calls"))
    assert [event["delta"] for event in events if event["type"].endswith(".delta")] == ["ab", "c", "\n", "😀d"]
    other = one(ToolCallStart(0, "run"), ToolCallArguments(0, '{"cmd": 1}'), ToolCallEnd(0), Finish("tool_calls"))
    assert other[-1]["response"]["output"][0]["input"] == '{"cmd": 1}'
    lone = one(ToolCallStart(0, "run"), ToolCallArguments(0, '{"input": "a\\ud83d"}'), ToolCallEnd(0), Finish("tool_calls"))
    assert lone[-1]["response"]["output"][0]["input"] == "a\ud83d"


def names(events: Sequence[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


def test_text() -> None:
    events = one(ContentDelta("Hel"), ContentDelta('lo "\n'), Finish("stop"))
    assert names(events) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    part = {"type": "output_text", "text": 'Hello "\n', "annotations": [], "logprobs": []}
    message = {"id": "msg_0123456789abcdef0123456700", "type": "message", "status": "completed", "role": "assistant"}
    assert events[-1]["response"]["output"] == [{**message, "content": [part]}]
    assert events[2]["item"] == {**message, "status": "in_progress", "content": []}
    assert events[-1]["response"]["usage"] == {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 15,
    }


def test_a_call_in_a_namespace_without_arguments() -> None:
    events = one(ToolCallStart(0, "crm__get", "model-id"), ToolCallEnd(0), Finish("tool_calls"))
    assert names(events)[2:-1] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]
    item = events[-1]["response"]["output"][0]
    assert (item["name"], item["namespace"], item["arguments"]) == ("get", "crm", "{}")
    assert item["id"].startswith("fc_")
    assert item["call_id"].startswith("call_")


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        (False, ["content_part.added", "reasoning_text.delta", "reasoning_text.done", "content_part.done"]),
        (
            True,
            [
                "reasoning_summary_part.added",
                "reasoning_summary_text.delta",
                "reasoning_summary_text.done",
                "reasoning_summary_part.done",
            ],
        ),
    ],
)
def test_thinking(summary: bool, expected: list[str]) -> None:
    events = one(ReasoningDelta("hm"), ContentDelta("x"), Finish("stop"), summary=summary, sealed=True)
    assert names(events)[3:7] == expected
    item = events[-1]["response"]["output"][0]
    kind = "summary_text" if summary else "reasoning_text"
    assert item["summary" if summary else "content"] == [{"type": kind, "text": "hm"}]
    assert unsealed(item["encrypted_content"]) == "hm"


def test_an_answer_that_was_cut() -> None:
    events = one(ToolCallStart(0, "f"), ToolCallArguments(0, '{"a": "b'), ToolCallEnd(0, complete=False), Finish("length"))
    last = events[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert (last["response"]["output"][0]["status"], last["response"]["output"][0]["arguments"]) == ("incomplete", '{"a": "b')


def test_a_turn_that_says_nothing_has_an_empty_message() -> None:
    assert [item["type"] for item in one(Finish("stop"))[-1]["response"]["output"]] == ["message"]


def test_a_failure_ends_the_stream_with_what_there_is() -> None:
    encoder = StreamEncoder(shape())
    text = encoder.opening() + encoder.encode([Batch(0, [ContentDelta("Hel")])])
    *_, last = frames(text + encoder.failure(BackendGarbled("The engine broke off.")))
    assert last["type"] == "response.failed"
    assert last["response"]["error"] == {"code": "server_error", "message": "The engine broke off."}
    assert last["response"]["output"][0]["status"] == "incomplete"
    assert last["response"]["output"][0]["content"][0]["text"] == "Hel"


def test_half_characters_and_line_separators_do_not_break_the_stream() -> None:
    text = "\u2028\x85\x00\ud83d"
    events = one(ContentDelta(text), ToolCallStart(0, "f"), ToolCallArguments(0, text), ToolCallEnd(0), Finish("stop"))
    assert events[4]["delta"] == text
