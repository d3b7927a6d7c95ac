"""Raw completions: the stream, put together, is the whole answer; and every frame is what the official client's types say."""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types import Completion

from gateway.chat.events import Piece, TokenLogprob, Usage
from gateway.errors import BackendGarbled
from gateway.protocols.completions.encode import Encoder

HEAD = {"id": "cmpl-0", "object": "text_completion", "created": 1, "model": "m/é"}
USAGE = Usage(10, 5, 4)


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[str], list[list[Piece]]]:
    """What each choice begins with, and what the reads of the engine gave."""
    prompts = draw(st.lists(st.sampled_from(["", "Once "]), min_size=1, max_size=3))
    left = {place: draw(st.lists(st.text(max_size=4), max_size=4)) for place in range(len(prompts))}
    with_logprobs = draw(st.booleans())
    reads: list[list[Piece]] = []
    while left:
        place = draw(st.sampled_from(sorted(left)))
        if left[place]:
            text = left[place].pop(0)
            tokens = [TokenLogprob(text, -0.5, [("x", float("-inf"))])] if with_logprobs else None
            reads.append([Piece(place, text, logprobs=tokens)])
        else:
            del left[place]
            reason = draw(st.sampled_from(["stop", "length"]))
            reads.append([Piece(place, "", finish_reason=reason, stop="END" if reason == "stop" else None)])
    return prompts, reads


def chunks(prompts: list[str], reads: Sequence[Sequence[Piece]], usage: Usage | None) -> list[dict[str, Any]]:
    encoder = Encoder(HEAD, prompts)
    text = b"".join([encoder.opening(), *(encoder.encode(read) for read in reads), encoder.closing(usage)])
    *frames, done, end = text.decode("ascii").split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


def folded(found: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """The choices of a stream, put together."""
    made: list[dict[str, Any]] = [{"text": "", "tokens": [], "offsets": [], "finish": None, "stop": None} for _ in range(count)]
    for chunk in found:
        for choice in chunk["choices"]:
            one = made[choice["index"]]
            assert one["finish"] is None
            one["text"] += choice["text"]
            one["finish"], one["stop"] = choice["finish_reason"], choice.get("stop_reason")
            if choice["logprobs"] is not None:
                one["tokens"] += choice["logprobs"]["tokens"]
                one["offsets"] += choice["logprobs"]["text_offset"]
    return made


def accept(chunk: dict[str, Any]) -> None:
    """It is what the client's types say, which have a reason to finish where the API gives null until there is one."""
    choices = [{**choice, "finish_reason": choice["finish_reason"] or "stop"} for choice in chunk["choices"]]
    Completion.model_validate({**chunk, "choices": choices})


@settings(max_examples=200, deadline=None)
@given(answers(), st.booleans())
def test_the_stream_put_together_is_the_whole_answer(answer: tuple[list[str], list[list[Piece]]], told: bool) -> None:
    prompts, reads = answer
    streamed = chunks(prompts, reads, USAGE if told else None)
    encoder = Encoder(HEAD, prompts)
    for read in reads:
        encoder.take(read)
    whole = json.loads(encoder.whole(USAGE))
    for frame in (*streamed, whole):
        accept(frame)
        assert {name: frame[name] for name in HEAD} == HEAD
    assert folded(streamed, len(prompts)) == folded([whole], len(prompts))
    assert [chunk["usage"] for chunk in streamed if "usage" in chunk] == ([whole["usage"]] if told else [])


def test_a_failure_is_told_and_nothing_follows() -> None:
    frame = Encoder(HEAD, [""]).failure(BackendGarbled("The engine broke off."))
    assert json.loads(frame.removeprefix(b"data: "))["error"]["message"] == "The engine broke off."
