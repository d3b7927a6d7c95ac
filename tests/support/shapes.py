"""The streams that this gateway writes for turns of every kind, and what of their frames is the same for every answer.

`python -m tests.support.shapes` writes them down anew; look at the difference before you keep it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from gateway.chat.events import Batch, TokenLogprob, Usage
from gateway.errors import BackendError
from gateway.protocols.chat_completions import encode as chat
from gateway.protocols.chat_completions.shape import Shape as ChatShape
from gateway.protocols.messages import encode as messages
from gateway.protocols.messages.shape import Shape as MessagesShape
from gateway.protocols.responses import encode as responses
from gateway.protocols.responses.decode import echo_of
from gateway.protocols.responses.schema import ResponsesRequest
from gateway.protocols.responses.shape import Shape as ResponsesShape
from gateway.protocols.responses.tool_set import Target
from gateway.protocols.responses.tools import decoded_tools
from gateway.settings import Limits
from parsers import ContentDelta, Event, Finish, ReasoningDelta, ToolCallArguments, ToolCallEnd, ToolCallStart

Json = dict[str, Any]
HOME = Path(__file__).parents[1] / "gateway" / "protocols" / "shapes"
USAGE = Usage(10, 5, 4, 2)
FAILURE = BackendError("The engine failed.")
FOUND: list[Json] = [{"type": "function", "name": "f", "description": "", "parameters": {}, "strict": True}]
KEPT = frozenset({"type", "object", "role", "finish_reason", "status", "stop_reason", "execution", "index", "output_index"})
"""Fields whose values tell what a frame is."""
OF_RESPONSE = frozenset({"error", "incomplete_details", "output", "status", "usage"})
"""Fields of a response that change while it is made; all of them are looked at once."""


@dataclass(frozen=True)
class Turn:
    """What a model says, and how the client wants it told. `fails`: the engine breaks off behind these events."""

    events: Sequence[Event | None] = ()
    """None: the gateway has searched for tools."""
    wishes: Mapping[str, Any] = field(default_factory=dict)
    fails: bool = False
    choices: int = 1
    logprobs: bool = False
    found: Sequence[Json] = ()
    """Tools that the gateway's search finds."""


def call(index: int = 0, name: str = "f", *fragments: str, complete: bool = True) -> list[Event]:
    """One call."""
    written = [ToolCallArguments(index, fragment) for fragment in fragments]
    return [ToolCallStart(index, name), *written, ToolCallEnd(index, complete)]


WORDS = [ContentDelta("Let me "), ContentDelta("see.")]
THOUGHT = [ReasoningDelta("Hm"), ReasoningDelta("m.")]
STOP, CALLS, LENGTH = Finish("stop"), Finish("tool_calls"), Finish("length")
TURNS: Mapping[str, Turn] = {
    "text": Turn([*WORDS, STOP]),
    "nothing": Turn([STOP]),
    "call": Turn([*call(0, "f", '{"a":', " 1}"), CALLS]),
    "call without arguments": Turn([*call(), CALLS]),
    "two calls": Turn([*call(0, "f", "{}"), *call(1, "g", "{}"), CALLS]),
    "text and call": Turn([*WORDS, *call(0, "f", "{}"), CALLS]),
    "thinking, text and call": Turn([*THOUGHT, *WORDS, *call(0, "f", "{}"), CALLS]),
    "cut text": Turn([*WORDS, LENGTH]),
    "cut call": Turn([*call(0, "f", '{"a"', complete=False), LENGTH]),
    "failure": Turn(WORDS, fails=True),
}
OF_CHAT: Mapping[str, Turn] = {
    **TURNS,
    "usage": Turn([*WORDS, STOP], {"include_usage": True}),
    "forced call": Turn([*call(0, "f", "{}"), CALLS], {"named": True}),
    "legacy call": Turn([*call(0, "f", "{}"), CALLS], {"legacy": True}),
    "custom call": Turn([*call(0, "run", '{"input": "pri', 'nt"}'), CALLS], {"custom": frozenset({"run"})}),
    "two choices": Turn([*WORDS, STOP], choices=2),
    "log probabilities": Turn([*WORDS, STOP], logprobs=True),
}
OF_RESPONSES: Mapping[str, Turn] = {
    **TURNS,
    "summary": Turn([*THOUGHT, *WORDS, STOP], {"summary": True}),
    "sealed thinking": Turn([*THOUGHT, *WORDS, STOP], {"sealed": True}),
    "custom call": Turn([*call(0, "run", '{"input": "pri', 'nt"}'), CALLS]),
    "call in a namespace": Turn([*call(0, "crm__get", "{}"), CALLS]),
    "search by the gateway": Turn([*call(0, "find", '{"query": "x"}'), None, *call(1, "f", "{}"), CALLS]),
    "search by the client": Turn([*call(0, "ask", '{"query": "x"}'), CALLS]),
    "compaction": Turn([*THOUGHT, *WORDS, STOP], {"compacts": True}),
    "background": Turn([*WORDS, STOP], {"background": True}),
    "log probabilities": Turn([*WORDS, STOP], logprobs=True),
}
TARGETS = {
    "crm__get": Target("get", "crm"),
    "run": Target("run", kind="custom"),
    "find": Target("tool_search", kind="server_search"),
    "ask": Target("tool_search", kind="client_search"),
}


def chat_frames(turn: Turn) -> list[Any]:
    """Its stream on Chat Completions, frame by frame."""
    shape = ChatShape(token="0" * 24, created=1, model="m", choices=turn.choices, **turn.wishes)
    return parsed(written(chat.StreamEncoder(shape), turn))


def responses_frames(turn: Turn) -> list[Any]:
    """Its stream on Responses."""
    wishes = dict(turn.wishes)
    request = ResponsesRequest(model="m", input="hi", background=wishes.pop("background", False))
    echo = echo_of(request, decoded_tools(wishes.pop("tools", ()), Limits()))
    shape = ResponsesShape(token="0" * 24, created=1, echo=echo, targets=TARGETS | wishes.pop("targets", {}), **wishes)
    return parsed(written(responses.StreamEncoder(shape), turn))


def messages_frames(turn: Turn) -> list[Any]:
    """Its stream on Messages."""
    return parsed(written(messages.StreamEncoder(MessagesShape("0" * 24, "m"), prompt_tokens=10), turn))


def written(encoder: Any, turn: Turn) -> bytes:
    """The bytes of a whole stream: each event in a read of its own, of every choice."""
    frames = [encoder.opening()]
    for event in turn.events:
        if event is None:
            encoder.found(turn.found or FOUND)
            continue
        tokens = [TokenLogprob("x", -0.5, [("y", -1.0)])] if turn.logprobs and isinstance(event, ContentDelta) else None
        frames.append(encoder.encode([Batch(choice, [event], tokens) for choice in range(turn.choices)]))
    return b"".join([*frames, encoder.failure(FAILURE) if turn.fails else encoder.closing(USAGE)])


def parsed(text: bytes) -> list[Any]:
    """The data of each frame."""
    frames = [block.partition("data: ")[2] for block in text.decode("ascii").split("\n\n")[:-1]]
    return [frame if frame == "[DONE]" else json.loads(frame) for frame in frames]


def shape_of(value: Any, key: str = "") -> Any:
    """What of a frame is the same for every answer: its fields, the kinds of their values, the values that tell what it is."""
    match value:
        case dict():
            names = sorted(OF_RESPONSE if key == "response" else value)
            return {name: shape_of(value[name], name) for name in names}
        case list():
            return [shape_of(inner) for inner in value]
        case None | bool():
            return value
    if key in KEPT or value == "[DONE]":
        return value
    return "text" if isinstance(value, str) else "number"


def shapes(frames: Sequence[Any]) -> list[Any]:
    """The shapes of a stream's frames; of those that follow one another and are alike, one."""
    return [shape for shape, _ in groupby(map(shape_of, frames))]


PROTOCOLS: Mapping[str, tuple[Callable[[Turn], list[Any]], Mapping[str, Turn]]] = {
    "chat": (chat_frames, OF_CHAT),
    "responses": (responses_frames, OF_RESPONSES),
    "messages": (messages_frames, TURNS),
}


def response_object() -> Any:
    """The shape of a whole response, all its fields."""
    return shape_of(responses_frames(TURNS["text"])[-1]["response"])


def committed(protocol: str) -> dict[str, list[Any]]:
    """The shapes as they were written down."""
    found: dict[str, list[Any]] = {}
    for line in (HOME / f"{protocol}.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        found.setdefault(entry["turn"], []).append(entry["frame"])
    return found


def main() -> None:
    """Write the shapes down."""
    HOME.mkdir(exist_ok=True)
    for protocol, (frames, turns) in PROTOCOLS.items():
        lines = [
            json.dumps({"turn": name, "frame": shape}, separators=(",", ":")) + "\n"
            for name, turn in turns.items()
            for shape in shapes(frames(turn))
        ]
        (HOME / f"{protocol}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
