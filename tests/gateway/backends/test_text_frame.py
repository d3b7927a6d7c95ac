"""A block that fits the frame of a stream says what it would say if it were read."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.backends.completions import MOST_FRAMES, CompletionsReader
from gateway.chat.events import Piece
from gateway.errors import BackendError

SETTINGS = settings(max_examples=300, derandomize=True, database=None, deadline=None)
texts = st.text(max_size=8) | st.sampled_from(['"', "\\", "\n", '","text":"', 'a", "text": "b', "\ud800", "\x7f", "\u2028"])
chunks = st.fixed_dictionaries(
    {"text": texts},
    optional={
        "index": st.sampled_from([0, 0, 0, 1]),
        "token_ids": st.sampled_from([None, None, [1]]),
        "finish_reason": st.sampled_from([None, None, None, "stop"]),
        "logprobs": st.sampled_from([None, None, {"tokens": ["x"], "token_logprobs": [-1.0]}]),
    },
)


def event(choice: dict[str, Any], *, spaced: bool = True, usage: Any = None, **fields: Any) -> bytes:
    """One event of an engine."""
    separators = (", ", ": ") if spaced else (",", ":")
    chunk = {"id": "cmpl-0", **fields, "choices": [choice], "usage": usage}
    return f"data: {json.dumps(chunk, separators=separators)}\n\n".encode()


@SETTINGS
@given(
    first=chunks,
    second=chunks,
    spaced=st.booleans(),
    usages=st.lists(st.sampled_from([None, {"prompt_tokens": 1}]), min_size=2, max_size=2),
)
def test_what_fits_is_read_alike(first: dict[str, Any], second: dict[str, Any], spaced: bool, usages: list[Any]) -> None:
    reader = CompletionsReader(choices=1, top_logprobs=None)
    one, two = event(first, spaced=spaced, usage=usages[0]), event(second, spaced=spaced, usage=usages[1])
    try:
        reader.feed(one)
    except BackendError:
        return
    texts = None if reader.frame is None else reader.frame.texts_of(two)
    if texts is not None:
        assert reader.feed(two) == [Piece(0, text) for text in texts]


@pytest.mark.parametrize("spaced", [True, False])
def test_a_frame_is_learned_from_the_first_text(spaced: bool) -> None:
    reader = CompletionsReader(choices=1, top_logprobs=None)
    reader.feed(event({"index": 0, "text": ""}, spaced=spaced))
    assert reader.frame is None
    reader.feed(event({"index": 0, "text": "one"}, spaced=spaced))
    assert reader.frame is not None
    assert reader.frame.texts_of(event({"index": 0, "text": '“two”\n"'}, spaced=spaced)) == ['“two”\n"']
    assert reader.frame.texts_of(event({"index": 0, "text": "two", "finish_reason": "stop"}, spaced=spaced)) is None


def test_it_is_learned_anew_where_it_changes_now_and_then() -> None:
    """llama.cpp writes the second into each chunk."""
    reader = CompletionsReader(choices=1, top_logprobs=None)
    for second in range(3):
        reader.feed(event({"index": 0, "text": "one"}, created=second))
        assert reader.frame is not None
        assert reader.frame.texts_of(event({"index": 0, "text": "two"}, created=second)) == ["two"]
    for second in range(MOST_FRAMES):
        reader.feed(event({"index": 0, "text": "one"}, created=10 + second))
    assert reader.frame is not None
    assert reader.frame.texts_of(event({"index": 0, "text": "two"}, created=10 + MOST_FRAMES)) is None


def test_several_events_fit_together() -> None:
    reader = CompletionsReader(choices=1, top_logprobs=None)
    reader.feed(event({"index": 0, "text": "one"}))
    assert reader.frame is not None
    together = b"".join(event({"index": 0, "text": text}) for text in ("tw", 'o"', ""))
    assert reader.frame.texts_of(together) == ["tw", 'o"', ""]
    assert reader.frame.texts_of(together + event({"index": 0, "text": "", "finish_reason": "stop"})) is None


def test_nothing_fits_behind_half_an_event() -> None:
    reader = CompletionsReader(choices=1, top_logprobs=None)
    whole = event({"index": 0, "text": "one"})
    reader.feed(whole)
    reader.feed(whole[:20])
    assert reader.frame is None
    assert reader.feed(whole[20:]) == [Piece(0, "one")]
    assert reader.frame is not None


def test_several_choices_have_no_frame() -> None:
    reader = CompletionsReader(choices=2, top_logprobs=None)
    reader.feed(event({"index": 0, "text": "one"}))
    assert reader.frame is None
