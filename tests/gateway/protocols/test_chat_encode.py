"""The stream, read by the official SDK's accumulator, is the whole answer; and its chunks have the exact shape clients need."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.lib.streaming.chat._completions import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from gateway.chat.events import Batch, TokenLogprob, Usage
from gateway.errors import BackendGarbled
from gateway.protocols.chat_completions.encode import StreamEncoder
from gateway.protocols.chat_completions.shape import Shape
from gateway.protocols.chat_completions.whole import whole
from gateway.protocols.profiles import PROFILES
from parsers import ContentDelta, Event, Finish, Notice, ReasoningDelta, ToolCallArguments, ToolCallEnd, ToolCallStart

LEGACY = PROFILES["legacy-ui"]
USAGE = Usage(prompt_tokens=10, completion_tokens=5, cached_tokens=4, reasoning_tokens=2)


def shape(**wishes: Any) -> Shape:
    return Shape(token="0123456789abcdef01234567", created=1_700_000_000, model="m/é", **wishes)


def streamed(shape: Shape, reads: Sequence[Sequence[Batch]]) -> str:
    encoder = StreamEncoder(shape)
    frames = [encoder.opening(), *(encoder.encode(batches) for batches in reads), encoder.closing(USAGE)]
    return b"".join(frames).decode("ascii")


def chunks(text: str) -> list[dict[str, Any]]:
    frames = text.split("\n\n")
    assert frames.pop() == ""
    assert frames.pop() == "data: [DONE]"
    assert all(frame.startswith("data: ") and "\n" not in frame for frame in frames)
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


def one(*events: Event, **wishes: Any) -> list[dict[str, Any]]:
    return chunks(streamed(shape(**wishes), [[Batch(0, [event])] for event in events]))


def deltas(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in found if chunk["choices"]]


@st.composite
def turns(draw: st.DrawFn) -> list[Event]:
    text = st.text(min_size=1, max_size=5)
    words = st.lists(st.one_of(st.builds(ContentDelta, text), st.builds(ReasoningDelta, text)), max_size=4)
    events: list[Event] = [*draw(words)]
    count = draw(st.integers(0, 3))
    for index in range(count):
        whole_call = index < count - 1 or draw(st.booleans())
        events.append(ToolCallStart(index, draw(st.from_regex(r"[a-z_]{1,8}", fullmatch=True)), None))
        events += [ToolCallArguments(index, fragment) for fragment in draw(st.lists(text, max_size=3))]
        events += [ToolCallEnd(index, whole_call), Notice("repaired", "x")]
        events += draw(words)
    reason = draw(st.sampled_from(["stop", "length"] + ["tool_calls"] * (count > 0)))
    return [*events, Finish(reason)]


@st.composite
def answers(draw: st.DrawFn) -> tuple[Shape, list[list[Batch]]]:
    """A shape, and what the reads of the engine gave: every choice's turn, cut and mixed."""
    count = draw(st.integers(1, 3))
    wishes = {name: draw(st.booleans()) for name in ("include_usage", "legacy", "named", "reasoning")}
    with_logprobs = draw(st.booleans())
    left = [draw(turns()) for _ in range(count)]
    reads: list[list[Batch]] = []
    while any(left):
        batches = []
        for _ in range(draw(st.integers(1, 3))):
            choice = draw(st.sampled_from([index for index, events in enumerate(left) if events] or [0]))
            size = draw(st.sampled_from([4, 1, 2, 0]))
            taken, left[choice] = left[choice][:size], left[choice][size:]
            more = bool(left[choice]) or any(isinstance(event, Finish) for event in taken)
            tokens = [TokenLogprob(draw(st.text(max_size=3)), -0.5, [("x", -0.5)])] if with_logprobs and more else None
            batches.append(Batch(choice, taken, tokens))
        reads.append(batches)
    profile = PROFILES[draw(st.sampled_from([*PROFILES]))]
    return shape(choices=count, profile=profile, **wishes), reads


def told(completion: Any) -> Any:
    """What a client learns of an answer."""
    return [
        {
            "index": choice.index,
            "finish_reason": choice.finish_reason,
            "content": choice.message.content,
            "role": choice.message.role,
            "refusal": choice.message.refusal,
            "reasoning": getattr(choice.message, "reasoning", None),
            "reasoning_content": getattr(choice.message, "reasoning_content", None),
            "calls": [
                (call.id, call.type, call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()
            ],
            "function_call": choice.message.function_call and choice.message.function_call.model_dump(),
            "logprobs": choice.logprobs and choice.logprobs.model_dump(),
        }
        for choice in completion.choices
    ]


@settings(max_examples=300, deadline=None)
@given(answers())
def test_the_stream_folded_by_the_sdk_is_the_whole_answer(answer: tuple[Shape, list[list[Batch]]]) -> None:
    form, reads = answer
    state = ChatCompletionStreamState()
    for chunk in chunks(streamed(form, reads)):
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk))
    folded = state.current_completion_snapshot
    body = json.loads(whole(form, [batch for batches in reads for batch in batches], USAGE))
    expected = ChatCompletion.model_validate(body)
    assert told(folded) == told(expected)
    assert (folded.id, folded.created, folded.model) == (expected.id, expected.created, expected.model)
    assert expected.usage is not None
    assert folded.usage == (expected.usage if form.include_usage or form.profile == LEGACY else None)


@settings(max_examples=100, deadline=None)
@given(answers())
def test_every_chunk_is_of_one_choice_and_complete(answer: tuple[Shape, list[list[Batch]]]) -> None:
    form, reads = answer
    found = chunks(streamed(form, reads))
    roles = [chunk["choices"][0]["index"] for chunk in found if chunk["choices"] and "role" in chunk["choices"][0]["delta"]]
    assert roles == list(range(form.choices))
    for chunk in found:
        assert (chunk["object"], chunk["id"], chunk["created"]) == ("chat.completion.chunk", form.id, form.created)
        for choice in chunk["choices"]:
            assert choice.keys() == {"index", "delta", "logprobs", "finish_reason"}
            assert len(choice["delta"].get("tool_calls", [1])) == 1


def test_text() -> None:
    found = one(ContentDelta("Hel"), ContentDelta('lo "\n'), Finish("stop"))
    assert deltas(found) == [
        {"role": "assistant", "content": None, "refusal": None},
        {"content": "Hel"},
        {"content": 'lo "\n'},
        {},
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in found] == [None, None, None, "stop"]
    assert all("usage" not in chunk for chunk in found)


def test_a_call_is_opened_once_with_everything_and_then_only_grows() -> None:
    found = one(
        ToolCallStart(0, "f", "model-id"),
        ToolCallArguments(0, '{"a"'),
        ToolCallArguments(0, ": 1}"),
        ToolCallEnd(0),
        ToolCallStart(1, "g"),
        ToolCallEnd(1),
        Finish("tool_calls"),
    )
    opening, *more = deltas(found)[1:-1]
    ids = [delta["tool_calls"][0]["id"] for delta in (opening, more[2])]
    assert len(set(ids)) == 2
    assert all(name.startswith("call_") for name in ids)
    assert opening == {"tool_calls": [{"index": 0, "id": ids[0], "type": "function", "function": {"name": "f", "arguments": ""}}]}
    assert more == [
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]},
        {"tool_calls": [{"index": 1, "id": ids[1], "type": "function", "function": {"name": "g", "arguments": ""}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
    ]
    assert found[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_usage_comes_last_and_is_null_before() -> None:
    *before, last = one(ContentDelta("x"), Finish("stop"), include_usage=True)
    assert all(chunk["usage"] is None for chunk in before)
    assert last["choices"] == []
    assert last["usage"] == {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }


def test_reasoning_has_both_names() -> None:
    assert deltas(one(ReasoningDelta("hm"), Finish("stop")))[1] == {"reasoning": "hm", "reasoning_content": "hm"}
    assert deltas(one(ReasoningDelta("hm"), Finish("stop"), reasoning=False)) == [
        {"role": "assistant", "content": None, "refusal": None},
        {"content": ""},
        {},
    ]


@pytest.mark.parametrize(
    ("reason", "wishes", "expected"),
    [
        ("tool_calls", {}, "tool_calls"),
        ("tool_calls", {"named": True}, "stop"),
        ("tool_calls", {"legacy": True}, "function_call"),
        ("length", {"named": True, "legacy": True}, "length"),
        ("stop", {}, "stop"),
        ("abort", {}, "stop"),
    ],
)
def test_finish_reasons(reason: str, wishes: dict[str, bool], expected: str) -> None:
    assert one(Finish(reason), **wishes)[-1]["choices"][0]["finish_reason"] == expected
    body = json.loads(whole(shape(**wishes), [Batch(0, [Finish(reason)])], USAGE))
    assert body["choices"][0]["finish_reason"] == expected


def test_old_interfaces_find_thinking_in_the_content() -> None:
    events = [
        ReasoningDelta("Hm"),
        Notice("repaired", "x"),
        ReasoningDelta("m."),
        ContentDelta("Yes."),
        ReasoningDelta("So."),
        ToolCallStart(0, "f"),
        ToolCallEnd(0),
        Finish("tool_calls"),
    ]
    found = one(*events, profile=LEGACY)
    said = "".join(delta.get("content") or "" for delta in deltas(found))
    assert said == "<think>\nHmm.\n</think>\n\nYes.<think>\nSo.\n</think>\n\n"
    message = json.loads(whole(shape(profile=LEGACY), [Batch(0, events)], USAGE))["choices"][0]["message"]
    assert message["content"] == said
    assert "reasoning" not in message
    assert deltas(one(ReasoningDelta("hm"), Finish("stop"), profile=LEGACY, reasoning=False))[1:] == [{"content": ""}, {}]


def test_old_interfaces_get_text_choices_and_usage_in_every_chunk() -> None:
    found = chunks(streamed(shape(profile=LEGACY, choices=2), [[Batch(place, [Finish("stop")])] for place in (1, 0)]))
    assert all(len(chunk["choices"]) == 1 for chunk in found)
    assert deltas(found)[0] == {"role": "assistant", "content": "", "refusal": None}
    assert [chunk["choices"][0]["finish_reason"] for chunk in found[-2:]] == ["stop", "stop"]
    assert [chunk.get("usage") is not None for chunk in found] == [False] * (len(found) - 1) + [True]
    call = [ToolCallStart(0, "f"), ToolCallEnd(0), Finish("tool_calls")]
    body = json.loads(whole(shape(profile=LEGACY, named=True), [Batch(0, call)], USAGE))["choices"][0]
    assert (body["finish_reason"], body["message"]["content"]) == ("tool_calls", "")
    assert one(*call, profile=LEGACY, named=True)[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_the_stop_text_that_ended_a_choice_is_told() -> None:
    batches = [Batch(0, [ContentDelta("a")]), Batch(0, [Finish("stop")], None, 'E"ND')]
    last = chunks(streamed(shape(), [[batch] for batch in batches]))[-1]["choices"][0]
    assert (last["finish_reason"], last["stop_reason"]) == ("stop", 'E"ND')
    assert json.loads(whole(shape(), batches, USAGE))["choices"][0]["stop_reason"] == 'E"ND'


def test_legacy_clients_get_one_function_call() -> None:
    events = [
        ToolCallStart(0, "f"),
        ToolCallArguments(0, "{}"),
        ToolCallEnd(0),
        ToolCallStart(1, "g"),
        ToolCallEnd(1),
        Finish("tool_calls"),
    ]
    assert deltas(one(*events, legacy=True))[1:] == [
        {"function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": "{}"}},
        {},
    ]


def test_a_call_that_was_cut_stays_as_it_is() -> None:
    events = [ToolCallStart(0, "f"), ToolCallArguments(0, '{"a": "b'), ToolCallEnd(0, complete=False), Finish("length")]
    found = one(*events)
    assert len(found) == 4
    call = json.loads(whole(shape(), [Batch(0, events)], USAGE))["choices"][0]["message"]["tool_calls"][0]
    assert call["function"] == {"name": "f", "arguments": '{"a": "b'}


def test_half_characters_and_line_separators_do_not_break_the_stream() -> None:
    text = "\u2028\x85\x00\ud83d"
    assert deltas(one(ContentDelta(text), ToolCallStart(0, "f"), ToolCallArguments(0, text), Finish("stop")))[1] == {
        "content": text
    }


def test_log_probabilities_wait_for_the_next_chunk() -> None:
    held, shown = TokenLogprob("<tool", -0.5, [("<tool", -0.5)]), TokenLogprob("é", float("-inf"))
    reads = [
        [Batch(0, [], [held])],
        [Batch(0, [ContentDelta("x")], [shown])],
        [Batch(0, [ContentDelta("y")])],
        [Batch(0, [Finish("stop")])],
    ]
    found = [chunk["choices"][0]["logprobs"] for chunk in chunks(streamed(shape(), reads))]
    assert [entry and [token["token"] for token in entry["content"]] for entry in found] == [None, ["<tool", "é"], None, None]
    assert found[1]["content"][1] == {"token": "é", "logprob": -9999.0, "bytes": [195, 169], "top_logprobs": []}


def test_a_failure_is_told_and_nothing_follows() -> None:
    frame = StreamEncoder(shape()).failure(BackendGarbled("The engine broke off."))
    body = json.loads(frame.removeprefix(b"data: "))
    assert body == {
        "error": {"message": "The engine broke off.", "type": "server_error", "param": None, "code": "backend_garbled"}
    }


def test_the_whole_answer() -> None:
    events = [ReasoningDelta("hm"), ToolCallStart(0, "f", "model-id"), ToolCallEnd(0), Finish("tool_calls")]
    body = json.loads(whole(shape(), [Batch(0, events)], USAGE))
    message = body["choices"][0]["message"]
    assert body["object"] == "chat.completion"
    assert message["content"] is None
    assert message["reasoning"] == message["reasoning_content"] == "hm"
    assert message["tool_calls"][0].keys() == {"id", "type", "function"}
    assert message["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}
    text = json.loads(whole(shape(), [Batch(0, [Finish("stop")])], USAGE))["choices"][0]["message"]
    assert text == {"role": "assistant", "content": "", "refusal": None}
