"""Events as Anthropic's stream. Everything constant is prepared once per block; a delta costs one escaped string in between.

Every frame has its `event:` line, without which the official clients ignore it. Text goes out as ASCII JSON.
"""

import json
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, assert_never

from gateway.chat.events import Batch, Usage
from gateway.chat.flow import Leave, Wait
from gateway.errors import GatewayError
from parsers import (
    ContentDelta,
    Delta,
    Event,
    Finish,
    Notice,
    ReasoningDelta,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)

from .refusal import error_body
from .shape import SIGNATURE, Shape, stop_reason, usage_object

PING = b'event: ping\ndata: {"type":"ping"}\n\n'
TEXT = '{"type":"text","text":""}'
CLOSE = "}}\n\n"
BLOCKS: dict[Delta, str] = {ContentDelta: "text", ReasoningDelta: "thinking", ToolCallArguments: "tool_use"}
"""The kind of block that a delta stands in."""
THINKING = '{"type":"thinking","thinking":"","signature":""}'


class StreamEncoder:
    """Writes one answer's stream: `opening`, any number of `encode`, then `closing` or `failure`.

    `prompt_tokens` are told at once where they are known (else 0); the final figures come at the end.
    """

    def __init__(self, shape: Shape, *, prompt_tokens: int = 0) -> None:
        self._shape = shape
        self._prompt_tokens = prompt_tokens
        self._index = -1
        self._kind = ""
        """Of the open block; empty when none is open."""
        self._delta = ""
        self._reason = "stop"
        self._stop: str | None = None

    def opening(self) -> bytes:
        """The message, still empty."""
        message: dict[str, Any] = {
            "id": self._shape.id,
            "type": "message",
            "role": "assistant",
            "model": self._shape.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage_object(Usage(self._prompt_tokens, 0)),
        }
        return frame("message_start", {"message": message}).encode()

    def encode(self, batches: Sequence[Batch]) -> bytes:
        """All frames of what one read of the engine gave."""
        frames: list[str] = []
        for batch in batches:
            if batch.stop is not None:
                self._stop = batch.stop
            for event in batch.events:
                frames.append(self._encode(event))
        return "".join(frames).encode()

    def leave(self, kind: Delta, write: Callable[[bytes], Wait | None]) -> Leave | None:
        """What writes deltas of this kind as `encode` would; None where they do not go on with the open block."""
        if self._kind != BLOCKS[kind]:
            return None
        before, between = self._delta, CLOSE + self._delta
        return lambda texts: write(f"{before}{between.join(map(quoted, texts))}{CLOSE}".encode("ascii"))

    def closing(self, usage: Usage | None) -> bytes:
        """Why the turn ended and what it cost."""
        reason = stop_reason(self._reason, self._stop)
        delta = {"stop_reason": reason, "stop_sequence": self._stop if reason == "stop_sequence" else None}
        spent = usage_object(usage or Usage(self._prompt_tokens, 0))
        return (frame("message_delta", {"delta": delta, "usage": spent}) + frame("message_stop", {})).encode()

    def failure(self, error: GatewayError) -> bytes:
        """A failure in mid-stream. Nothing follows, so that no client takes the answer for whole."""
        return frame("error", error_body(error)).encode()

    def _encode(self, event: Event) -> str:
        match event:
            case ContentDelta():
                opened = "" if self._kind == "text" else self._open("text", TEXT, '"text_delta","text":')
                return f"{opened}{self._delta}{quoted(event.text)}{CLOSE}"
            case ToolCallArguments():
                return f"{self._delta}{quoted(event.fragment)}{CLOSE}"
            case ReasoningDelta(text):
                opened = "" if self._kind == "thinking" else self._open("thinking", THINKING, '"thinking_delta","thinking":')
                return f"{opened}{self._delta}{quoted(text)}{CLOSE}"
            case ToolCallStart(index, name):
                block = f'{{"type":"tool_use","id":"{self._shape.call_id(index)}","name":{quoted(name)},"input":{{}}}}'
                opened = self._open("tool_use", block, '"input_json_delta","partial_json":')
                return f'{opened}{self._delta}""{CLOSE}'
            case ToolCallEnd():
                return self._ended()
            case Finish(reason):
                self._reason = reason
                return self._ended()
            case Notice():
                return ""
            case _:
                assert_never(event)

    def _open(self, kind: str, block: str, delta: str) -> str:
        """The frames that lead from the open block, if any, into a new one."""
        ended = self._ended()
        self._index += 1
        self._kind = kind
        self._delta = (
            f'event: content_block_delta\ndata: {{"type":"content_block_delta","index":{self._index},"delta":{{"type":{delta}'
        )
        start = f'{{"type":"content_block_start","index":{self._index},"content_block":{block}}}'
        return f"{ended}event: content_block_start\ndata: {start}\n\n"

    def _ended(self) -> str:
        """The frames that end the open block."""
        if not self._kind:
            return ""
        signature = {"index": self._index, "delta": {"type": "signature_delta", "signature": SIGNATURE}}
        signed = frame("content_block_delta", signature) if self._kind == "thinking" else ""
        self._kind = ""
        return signed + frame("content_block_stop", {"index": self._index})


def frame(name: str, fields: dict[str, Any]) -> str:
    """One event of the stream."""
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields}, separators=(',', ':'))}\n\n"
