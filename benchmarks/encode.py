"""The cost of writing one delta to a client: the encoder against one pydantic chunk per delta, in one run.

python benchmarks/encode.py [--deltas 20000]
"""

import argparse
import time
from collections.abc import Callable, Sequence

from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import Choice, ChoiceDelta, ChoiceDeltaToolCall, ChoiceDeltaToolCallFunction

from gateway.chat.events import Batch
from gateway.protocols.chat_completions.encode import StreamEncoder
from gateway.protocols.chat_completions.shape import Shape
from parsers import ContentDelta, Event, ToolCallArguments, ToolCallStart

ROUNDS = 5
SHAPE = Shape(token="0123456789abcdef01234567", created=1_700_000_000, model="qwen3-8b")
WORDS = ("The", " weather", " in", " Zürich", ' is "fine"', ",", " 23", "°C", ".\n", " Bring")


def by_encoder(events: Sequence[Event]) -> Callable[[], int]:
    """Writes every event as the gateway does, one read each."""
    encoder = StreamEncoder(SHAPE)
    encoder.opening()
    encoder.encode([Batch(0, [ToolCallStart(0, "f")])])
    reads = [[Batch(0, [event])] for event in events]
    return lambda: sum(len(encoder.encode(batches)) for batches in reads)


def by_pydantic(events: Sequence[Event]) -> Callable[[], int]:
    """Writes every event as a model object, which is built, checked and dumped."""
    return lambda: sum(len(f"data: {_chunk(event).model_dump_json(exclude_unset=True)}\n\n".encode()) for event in events)


def _chunk(event: Event) -> ChatCompletionChunk:
    if isinstance(event, ToolCallArguments):
        function = ChoiceDeltaToolCallFunction(arguments=event.fragment)
        delta = ChoiceDelta(tool_calls=[ChoiceDeltaToolCall(index=event.index, function=function)])
    else:
        assert isinstance(event, ContentDelta)
        delta = ChoiceDelta(content=event.text)
    return ChatCompletionChunk(
        id=SHAPE.id,
        object="chat.completion.chunk",
        created=SHAPE.created,
        model=SHAPE.model,
        choices=[Choice(index=0, delta=delta, logprobs=None, finish_reason=None)],
    )


def best(work: Callable[[], int], count: int) -> float:
    """Microseconds per delta, of the fastest round."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times) / count * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltas", type=int, default=20_000)
    count = parser.parse_args().deltas
    texts = [WORDS[place % len(WORDS)] for place in range(count)]
    kinds: dict[str, list[Event]] = {
        "content": [ContentDelta(text) for text in texts],
        "arguments": [ToolCallArguments(0, text) for text in texts],
    }
    print(f"{'delta':<12}{'encoder us':>12}{'pydantic us':>12}{'ratio':>8}")
    for name, events in kinds.items():
        ours, theirs = best(by_encoder(events), count), best(by_pydantic(events), count)
        print(f"{name:<12}{ours:>12.2f}{theirs:>12.2f}{theirs / ours:>8.1f}")


if __name__ == "__main__":
    main()
