"""Text that goes the short way arrives as it would have by the long one: the same bytes, the same tokens, the same verdicts."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.backends.completions import CompletionsReader
from gateway.backends.piece_reads import PieceReads
from gateway.chat.events import Batch, Piece, Usage
from gateway.chat.flow import Leave, Pulled, Reads
from gateway.chat.plan import Plan
from gateway.chat.request import ChatRequest, ResponseFormat
from gateway.errors import GatewayError
from gateway.pipeline import Turn
from gateway.pipeline.running import Running
from gateway.planning.catalog import ModelSpec
from gateway.planning.planner import plan
from gateway.protocols.chat_completions import encode as chat
from gateway.protocols.chat_completions.shape import Shape as ChatShape
from gateway.protocols.messages import encode as messages
from gateway.protocols.messages.shape import Shape as MessagesShape
from gateway.protocols.responses import encode as responses
from gateway.protocols.responses.shape import Shape as ResponsesShape
from gateway.telemetry.record import Record
from parsers import Delta, Event, normal
from tests.support.planned import CITY, STRICT_WEATHER, WEATHER, asked, scripted
from tests.support.shapes import parsed
from tests.support.turns import cut
from tests.support.walk import reads_of

Made = tuple[bytes, Usage, int, dict[str, int], str]
"""What was written, what it cost, and what was counted."""
ENCODERS: dict[str, Callable[[], Any]] = {
    "chat": lambda: chat.StreamEncoder(ChatShape(token="0" * 24, created=1, model="m")),
    "legacy": lambda: chat.StreamEncoder(ChatShape(token="0" * 24, created=1, model="m", legacy=True)),
    "custom": lambda: chat.StreamEncoder(ChatShape(token="0" * 24, created=1, model="m", custom=frozenset({"get_weather"}))),
    "messages": lambda: messages.StreamEncoder(MessagesShape("0" * 24, "m")),
    "responses": lambda: responses.StreamEncoder(ResponsesShape(token="0" * 24, created=1, echo={})),
}
REQUESTS: dict[str, ChatRequest] = {
    "free": asked(tools=(WEATHER,)),
    "no tools": asked(),
    "strict": asked(tools=(STRICT_WEATHER,)),
    "required": asked(tools=(WEATHER,), choice="required"),
    "one call": asked(tools=(WEATHER,), parallel_tool_calls=False),
    "schema": asked(response_format=ResponseFormat("json_schema", schema=CITY, strict=True)),
}
WORDS = 'Paris| is| nice|.|\n|\\n|\\"|"|é|雨|\U0001f327|<|</think>|<tool_call>\n|{|}|\u2028| '.split("|")
prose = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelSpec:
    return scripted(tmp_path_factory.mktemp("turns"), "never played")


def block(text: str, finish: str | None = None) -> bytes:
    """One event as vLLM writes it."""
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish, "stop_reason": None, "token_ids": None}
    event = {"id": "cmpl-0", "object": "text_completion", "created": 0, "model": "m", "choices": [choice], "usage": None}
    return f"data: {json.dumps(event)}\n\n".encode()


def blocks_of(texts: Sequence[str]) -> list[bytes]:
    """The stream that brings these texts."""
    return [*map(block, texts), block("", "stop"), b"data: [DONE]\n\n"]


class Played:
    """An engine that sends these blocks."""

    name = "played"

    def __init__(self, blocks: Sequence[bytes]) -> None:
        self.blocks = blocks

    @asynccontextmanager
    async def stream(self, _: Plan) -> AsyncGenerator[Reads[list[Piece]]]:
        async def blocks() -> AsyncGenerator[bytes]:
            for sent in self.blocks:
                yield sent

        reader = CompletionsReader(choices=1, top_logprobs=None)
        yield PieceReads(Pulled(blocks()), reader, copies=1, broke_off=lambda: None)


def made(spec: ModelSpec, request: ChatRequest, encoder: Any, blocks: Sequence[bytes], *, short: bool) -> tuple[Made, int]:
    """The answer to a request, and how many pieces of it went the short way."""
    record, out, went = Record(), [encoder.opening()], 0
    played = replace(spec, backend=Played(blocks))  # type: ignore[arg-type]

    def leaving(kind: Delta) -> Leave | None:
        leave = encoder.leave(kind, out.append)
        if leave is None:
            return None

        def counted(texts: list[str]) -> None:
            nonlocal went
            went += len(texts)
            leave(texts)

        return counted

    async def run() -> Usage:
        turn = Turn(played, plan(request, spec), record, Running())
        await turn.start()

        def take(batches: list[Batch]) -> None:
            out.append(encoder.encode(batches))

        try:
            await turn.run(take, leaving if short else None)
        except GatewayError as error:
            out.append(encoder.failure(error))
        finally:
            await turn.stop()
        return turn.usage

    usage = asyncio.run(run())
    return (b"".join(out), usage, record.invalid, dict(record.steps), repr(record.notices)), went


@pytest.mark.parametrize("protocol", ENCODERS)
@pytest.mark.parametrize("wanted", REQUESTS)
@settings(max_examples=15, derandomize=True, database=None, deadline=None)
@given(data=st.data())
def test_it_makes_no_difference(
    tmp_path_factory: pytest.TempPathFactory, protocol: str, wanted: str, data: st.DataObject
) -> None:
    spec = scripted(tmp_path_factory.mktemp("turns"), "never played", strict=data.draw(st.sampled_from(("fail", "report"))))
    thinking = data.draw(prose)
    call = json.dumps({"name": "get_weather", "arguments": {"city": data.draw(prose), "unit": data.draw(st.sampled_from("CK"))}})
    turn = data.draw(
        st.sampled_from(
            (
                f"<think>\n{thinking}\n</think>\n\nSo. {data.draw(prose)}<tool_call>\n{call}\n</tool_call>",
                f"{data.draw(prose)}<tool_call>\n{call}\n</tool_call>\n<tool_call>\n{call}\n</tool_call>",
                json.dumps({"city": data.draw(prose)}),
                data.draw(prose),
            )
        )
    )
    blocks = blocks_of(cut(turn, data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=5))))
    for at in data.draw(st.lists(st.integers(0, len(blocks) - 1), max_size=3)):  # some events come in two reads
        middle = data.draw(st.integers(1, len(blocks[at])))
        blocks[at : at + 1] = filter(None, (blocks[at][:middle], blocks[at][middle:]))
    long, _ = made(spec, REQUESTS[wanted], ENCODERS[protocol](), blocks, short=False)
    assert made(spec, REQUESTS[wanted], ENCODERS[protocol](), blocks, short=True)[0] == long


@pytest.mark.parametrize("protocol", ["chat", "messages", "responses"])
def test_nearly_all_of_a_long_answer_goes_the_short_way(model: ModelSpec, protocol: str) -> None:
    words = [" It rains", " in\n", "“Paris”", ' and "here"', "."] * 40
    arguments = ['{"name": "get_weather", "arguments": {"city": "', *[" Pa", "ris", "\\n", ' \\"é\\"'] * 40, '"}}']
    texts = ["Well", *words, "<tool_call>\n", *arguments, "\n</tool_call>"]
    blocks = blocks_of(texts)
    (_, usage, _, _, _), went = made(model, REQUESTS["free"], ENCODERS[protocol](), blocks, short=True)
    assert usage.completion_tokens == len(texts)
    assert went >= 0.98 * (len(words) + len(arguments) - 2)


def test_thinking_goes_the_short_way_and_is_counted(model: ModelSpec) -> None:
    texts = ["<think>", "\nHm", *[" it rains"] * 20, "\n</think>\n\n", "Yes."]
    blocks = blocks_of(texts)
    (_, usage, _, _, _), went = made(model, asked(), ENCODERS["messages"](), blocks, short=True)
    assert went >= 19
    long, _ = made(model, asked(), ENCODERS["messages"](), blocks, short=False)
    assert usage == long[1]
    assert usage.reasoning_tokens >= 20


def test_what_comes_together_leaves_together(model: ModelSpec) -> None:
    arguments = ['{"name": "get_weather", "arguments": {"city": "', *["Pa", 'ris \\"x\\"'] * 10, '", "unit": "K"}}']
    texts = ["Well", *[" it", " rains"] * 10, "<tool_call>\n", *arguments, "\n</tool_call>"]
    single, pairs = blocks_of(texts), blocks_of(texts)
    pairs = [b"".join(pairs[at : at + 2]) for at in range(0, len(pairs), 2)]
    (one, *counted), _ = made(model, REQUESTS["free"], ENCODERS["chat"](), single, short=False)
    (two, *counted_too), went = made(model, REQUESTS["free"], ENCODERS["chat"](), pairs, short=True)
    assert went >= 32
    assert counted_too == counted
    assert said(two) == said(one)


def said(stream: bytes) -> list[str]:
    """The content and the arguments in a stream of chat completions."""
    deltas = [chunk["choices"][0]["delta"] for chunk in parsed(stream)]
    calls = [call["function"]["arguments"] for delta in deltas for call in delta.get("tool_calls", ())]
    return ["".join(delta.get("content") or "" for delta in deltas), "".join(calls)]


@pytest.mark.parametrize("together", [1, 5, 1000])
def test_a_whole_answer_is_the_same(model: ModelSpec, together: int) -> None:
    arguments = ['{"name": "get_weather", "arguments": {"city": "', *["Pa", "ris "] * 10, '", "unit": "K"}}']
    texts = ["<think>\nHm", *[" so"] * 9, "\n</think>\n\nWell", *[" it", " rains"] * 10]
    texts += 2 * ["<tool_call>\n", *arguments, "\n</tool_call>"]
    blocks = blocks_of(texts)
    blocks = [b"".join(blocks[at : at + together]) for at in range(0, len(blocks), together)]

    async def events(*, whole: bool) -> list[Event]:
        request = REQUESTS["free"]
        turn = Turn(replace(model, backend=Played(blocks)), plan(request, model), Record(), Running())  # type: ignore[arg-type]
        if whole:
            turn.keep_back()
        await turn.start()
        reads = await reads_of(turn)
        await turn.stop()
        assert turn.usage.completion_tokens == len(texts)
        return [event for read in reads for batch in read for event in batch.events]

    assert normal(asyncio.run(events(whole=True))) == normal(asyncio.run(events(whole=False)))
