"""The stream, read by the official SDK's accumulator, is the whole answer; and its frames have the exact shape clients need."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import Message, RawMessageStreamEvent
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from gateway.chat.events import Batch, Usage
from gateway.errors import BackendGarbled
from gateway.protocols.messages.encode import PING, StreamEncoder
from gateway.protocols.messages.shape import SIGNATURE, Shape
from gateway.protocols.messages.whole import whole
from parsers import ContentDelta, Event, Finish, Notice, ReasoningDelta, ToolCallArguments, ToolCallEnd, ToolCallStart

USAGE = Usage(prompt_tokens=10, completion_tokens=5, cached_tokens=4, reasoning_tokens=2)
SHAPE = Shape("0123456789abcdef01234567", "m/é")
STRICT: Any = TypeAdapter(RawMessageStreamEvent)
SPENT = {
    "input_tokens": 6,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 4,
    "output_tokens": 5,
    "output_tokens_details": {"thinking_tokens": 2},
}


def streamed(reads: Sequence[Sequence[Batch]]) -> str:
    encoder = StreamEncoder(SHAPE, prompt_tokens=10)
    frames = [encoder.opening(), *(encoder.encode(batches) for batches in reads), encoder.closing(USAGE)]
    return b"".join(frames).decode("ascii")


def parsed(text: str) -> list[dict[str, Any]]:
    """The frames' data; each is named in its `event:` line as in itself."""
    frames = text.split("\n\n")
    assert frames.pop() == ""
    found = []
    for frame in frames:
        name, data = frame.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


def one(*events: Event, stop: str | None = None) -> list[dict[str, Any]]:
    *before, last = events
    return parsed(streamed([[Batch(0, [event])] for event in before] + [[Batch(0, [last], stop=stop)]]))


def body(*events: Event, stop: str | None = None) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(whole(SHAPE, [Batch(0, list(events), stop=stop)], USAGE))
    return answer


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def arguments(draw: st.DrawFn) -> list[str]:
    """An object's JSON text in pieces; none at all for a call without arguments."""
    text = json.dumps(draw(st.dictionaries(st.text(max_size=4), values, max_size=3)), ensure_ascii=draw(st.booleans()))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return draw(st.sampled_from([[piece for piece in pieces if piece], []]))


@st.composite
def turns(draw: st.DrawFn) -> list[Event]:
    text = st.text(min_size=1, max_size=5)
    words = st.lists(st.one_of(st.builds(ContentDelta, text), st.builds(ReasoningDelta, text)), max_size=4)
    events: list[Event] = [*draw(words)]
    count = draw(st.integers(0, 3))
    reason = draw(st.sampled_from(["stop", "length"] + ["tool_calls"] * (count > 0)))
    for index in range(count):
        cut = index == count - 1 and reason == "length"
        pieces = draw(arguments())
        if cut:
            pieces = pieces[: draw(st.integers(0, len(pieces)))]
        events.append(ToolCallStart(index, draw(st.from_regex(r"[a-z_]{1,8}", fullmatch=True)), None))
        events += [ToolCallArguments(index, fragment) for fragment in pieces]
        events += [ToolCallEnd(index, not cut), Notice("repaired", "x")]
        events += [] if cut else draw(words)
    return [*events, Finish(reason)]


@st.composite
def answers(draw: st.DrawFn) -> list[list[Batch]]:
    """What the reads of the engine gave: a turn in batches, batches in reads."""
    left = draw(turns())
    reads: list[list[Batch]] = []
    while left:
        batches = []
        for _ in range(draw(st.integers(1, 3))):
            size = draw(st.sampled_from([4, 1, 2]))
            taken, left = left[:size], left[size:]
            batches.append(Batch(0, taken))
        reads.append(batches)
    if draw(st.booleans()):
        reads[-1][-1].stop = draw(st.sampled_from(["END", "\n"]))
    return reads


def folded(frames: Sequence[dict[str, Any]]) -> Any:
    """The message that the SDK makes of a stream."""
    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for frame in frames:
        snapshot = accumulate_event(event=STRICT.validate_python(frame), current_snapshot=snapshot, json_bufs=buffers)
    return snapshot


@settings(max_examples=300, deadline=None)
@given(answers())
def test_the_stream_folded_by_the_sdk_is_the_whole_answer(reads: list[list[Batch]]) -> None:
    found = folded(parsed(streamed(reads)))
    expected = Message.model_validate(json.loads(whole(SHAPE, [batch for read in reads for batch in read], USAGE)))
    assert found.to_dict(exclude_none=True) == expected.to_dict(exclude_none=True)


@settings(max_examples=200, deadline=None)
@given(answers())
def test_blocks_come_one_after_the_other_and_everything_is_closed(reads: list[list[Batch]]) -> None:
    first, *frames, delta, last = parsed(streamed(reads))
    assert (first["type"], delta["type"], last["type"]) == ("message_start", "message_delta", "message_stop")
    index, opened = -1, False
    for frame in frames:
        match frame["type"]:
            case "content_block_start":
                assert not opened
                index, opened = index + 1, True
            case "content_block_stop":
                assert opened
                opened = False
            case other:
                assert (other, opened) == ("content_block_delta", True)
        assert frame["index"] == index
    assert not opened


def test_text() -> None:
    assert one(ContentDelta("Hel"), ContentDelta('lo "\n'), Finish("stop")) == [
        {
            "type": "message_start",
            "message": {
                "id": SHAPE.id,
                "type": "message",
                "role": "assistant",
                "model": "m/é",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {
                    "input_tokens": 10,
                    "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": 0,
                    "output_tokens": 0,
                    "output_tokens_details": {"thinking_tokens": 0},
                },
            },
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 'lo "\n'}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": SPENT},
        {"type": "message_stop"},
    ]


def test_thinking_is_signed_before_it_is_closed() -> None:
    assert one(ReasoningDelta("hm"), ContentDelta("Hi"), Finish("stop"))[1:5] == [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": SIGNATURE}},
        {"type": "content_block_stop", "index": 0},
    ]


def test_calls() -> None:
    frames = one(
        ToolCallStart(0, "f", "model-id"),
        ToolCallArguments(0, '{"a"'),
        ToolCallArguments(0, ": 1}"),
        ToolCallEnd(0),
        ToolCallStart(1, "g"),
        ToolCallEnd(1),
        Finish("tool_calls"),
    )
    ids = [frame["content_block"]["id"] for frame in frames if frame["type"] == "content_block_start"]
    assert len(set(ids)) == 2
    assert all(name.startswith("toolu_") for name in ids)
    assert frames[1:-2] == [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": ids[0], "name": "f", "input": {}},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ": 1}"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": ids[1], "name": "g", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_stop", "index": 1},
    ]
    assert frames[-2]["delta"]["stop_reason"] == "tool_use"


@pytest.mark.parametrize(
    ("reason", "stop", "expected"),
    [
        ("tool_calls", None, ("tool_use", None)),
        ("length", None, ("max_tokens", None)),
        ("stop", None, ("end_turn", None)),
        ("stop", "END", ("stop_sequence", "END")),
        ("tool_calls", "END", ("tool_use", None)),
    ],
)
def test_stop_reasons(reason: str, stop: str | None, expected: tuple[str, str | None]) -> None:
    events = [ContentDelta("x"), Finish(reason)]
    delta = one(*events, stop=stop)[-2]["delta"]
    answer = body(*events, stop=stop)
    assert (delta["stop_reason"], delta["stop_sequence"]) == expected
    assert (answer["stop_reason"], answer["stop_sequence"]) == expected


def test_the_whole_answer_keeps_the_order_and_the_models_own_numbers() -> None:
    answer = whole(
        SHAPE,
        [
            Batch(
                0,
                [
                    ReasoningDelta("hm"),
                    ContentDelta("Let me see."),
                    ToolCallStart(0, "f", None),
                    ToolCallArguments(0, '{"n": 1.0, "id": 123456789012345678901234567890, "e": "é"}'),
                    ToolCallEnd(0),
                    ContentDelta("And?"),
                    Finish("tool_calls"),
                ],
            )
        ],
        USAGE,
    )
    assert b'"input":{"n": 1.0, "id": 123456789012345678901234567890, "e": "\xc3\xa9"}' in answer
    message = json.loads(answer)
    assert [block["type"] for block in message["content"]] == ["thinking", "text", "tool_use", "text"]
    assert message["content"][0] == {"type": "thinking", "thinking": "hm", "signature": SIGNATURE}
    assert message["content"][2]["id"] == SHAPE.call_id(0)
    assert {key: message[key] for key in ("id", "type", "role", "model", "stop_reason", "stop_sequence", "usage")} == {
        "id": "msg_0123456789abcdef01234567",
        "type": "message",
        "role": "assistant",
        "model": "m/é",
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": SPENT,
    }


def test_a_turn_that_said_nothing_has_no_content() -> None:
    assert body(Finish("stop"))["content"] == []
    assert [frame["type"] for frame in one(Finish("stop"))] == ["message_start", "message_delta", "message_stop"]


def test_of_a_call_that_was_cut_the_readable_beginning_is_kept() -> None:
    events = [
        ToolCallStart(0, "f"),
        ToolCallArguments(0, '{"a": [1, 2], "b": "c'),
        ToolCallEnd(0, complete=False),
        Finish("length"),
    ]
    answer = body(*events)
    assert answer["content"][0]["input"] == {"a": [1, 2]}
    assert answer["stop_reason"] == "max_tokens"
    assert one(*events)[3]["delta"]["partial_json"] == '{"a": [1, 2], "b": "c'


def test_half_characters_and_line_separators_do_not_break_the_stream() -> None:
    text = "\u2028\x85\x00\ud83d\r\n"
    assert one(ContentDelta(text), Finish("stop"))[2]["delta"]["text"] == text
    assert body(ContentDelta(text), Finish("stop"))["content"][0]["text"] == text


def test_a_failure_is_told_and_nothing_follows() -> None:
    encoder = StreamEncoder(SHAPE)
    (frame,) = parsed(encoder.failure(BackendGarbled("The engine broke off.")).decode())
    assert frame == {
        "type": "error",
        "error": {"type": "api_error", "message": "The engine broke off."},
        "request_id": None,
    }


def test_the_sign_of_life_is_an_event_of_its_own() -> None:
    assert parsed(PING.decode()) == [{"type": "ping"}]
