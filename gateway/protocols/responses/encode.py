"""Events as the stream of a response. Everything constant is prepared once per item; a delta costs one escaped string between two
texts and its number.

Text goes out as ASCII JSON: some clients cut lines at U+2028 or decode each network packet by itself, and would break UTF-8.
"""

import json
import time
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, assert_never

from gateway.chat.events import Batch, TokenLogprob, Usage
from gateway.chat.flow import Leave, Wait
from gateway.errors import GatewayError
from gateway.protocols.custom_input import InputText
from gateway.protocols.logprobs import logprobs_list
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

from .output import Item, Kind
from .shape import Shape, error_object, usage_object
from .tool_set import Target

Json = dict[str, Any]
CONTENT = {
    "message": "output_text",
    "reasoning": "reasoning_text",
    "function_call": "function_call_arguments",
    "custom_tool_call": "custom_tool_call_input",
}
"""What the events about each kind of content are called."""
CALLS: dict[str, Kind] = {
    "function": "function_call",
    "custom": "custom_tool_call",
    "server_search": "tool_search_call",
    "client_search": "tool_search_call",
}
CUT = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Reasons to finish that leave an answer incomplete."""


class StreamEncoder:
    """Writes one answer's stream: `opening`, any number of `encode`, then `closing` or `failure`. Keeps the whole answer."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.result: Json = shape.body("in_progress")
        """The response as it was told last."""
        self._sequence = 0
        self._items: list[Item] = []
        self._open: Item | None = None
        self._input: InputText | None = None
        """Reads the text out of a custom tool's arguments."""
        self._waiting = ""
        """Frames that were made between two turns."""
        self._kind = ""
        """Of the open item."""
        self._text: Kind = "compaction" if shape.compacts else "message"
        """What the model's words are."""
        self._texts: list[str] = []
        self._logprobs: Sequence[TokenLogprob] | None = None
        """Those of the read that is being written, until a delta has taken them along."""
        self._delta_open = self._delta_middle = self._delta_close = ""
        self._reason = "stop"

    def opening(self) -> bytes:
        """The response, still empty."""
        self.result = self.shape.body("in_progress")
        states = ["created", "queued", "in_progress"] if self.shape.echo.get("background") else ["created", "in_progress"]
        frames = []
        for state in states:
            status = "queued" if "queued" in states and state != "in_progress" else "in_progress"
            frames.append(self._frame(f"response.{state}", {"response": self.shape.body(status)}))
        return "".join(frames).encode()

    def encode(self, batches: Sequence[Batch]) -> bytes:
        """All frames of what one read of the engine gave."""
        frames: list[str] = [self._waiting] if self._waiting else []
        self._waiting = ""
        for batch in batches:
            self._logprobs = batch.logprobs
            for event in batch.events:
                frames.append(self._encode(event))
        return "".join(frames).encode()

    def leave(self, kind: Delta, write: Callable[[bytes], Wait | None]) -> Leave | None:
        """What writes deltas of this kind as `encode` would; None where they do not merely go on with the open item."""
        items = {ContentDelta: self._text, ReasoningDelta: "reasoning", ToolCallArguments: "function_call"}
        if self._kind != items[kind] or self._waiting or self._logprobs or not self._delta_close:
            return None
        return lambda texts: write("".join(map(self._delta, texts)).encode("ascii"))

    def found(self, tools: Sequence[Json]) -> None:
        """A search of the gateway has found these tools; told with what comes next."""
        self._waiting += self._begin("tool_search_output")
        if self._open is not None:
            self._open.found = tools
        self._waiting += self._end()

    def conclude(self, usage: Usage | None) -> None:
        """The answer is whole, or as whole as it will be."""
        cut = CUT.get(self._reason)
        details = {"incomplete_details": {"reason": cut}} if cut else {"completed_at": int(time.time())}
        spent = None if usage is None else usage_object(usage)
        self.result = self.shape.body("incomplete" if cut else "completed", self._output(), **details, usage=spent)

    def fail(self, error: GatewayError) -> None:
        """The answer has failed with what there is so far."""
        self._leave_incomplete()
        self.result = self.shape.body("failed", self._output(), error=error_object(error))

    def cancel(self) -> None:
        """The client wants no more of it."""
        self._leave_incomplete()
        self.result = self.shape.body("cancelled", self._output())

    def closing(self, usage: Usage | None) -> bytes:
        """The response with everything in it."""
        if self.result["status"] == "in_progress":
            self.conclude(usage)
        return self.last()

    def failure(self, error: GatewayError) -> bytes:
        """A failure in mid-stream."""
        if self.result["status"] == "in_progress":
            self.fail(error)
        return self.last()

    def last(self) -> bytes:
        """The frame that ends the stream, whichever way the answer went."""
        waiting, self._waiting = self._waiting, ""
        return (waiting + self._frame(f"response.{self.result['status']}", {"response": self.result})).encode()

    def _leave_incomplete(self) -> None:
        if self._open is not None:
            self._open.status = "incomplete"

    def _output(self) -> list[Json]:
        return [item.written(self.shape) for item in self._items]

    def _frame(self, name: str, fields: Json) -> str:
        self._sequence += 1
        return frame(name, self._sequence - 1, fields).decode()

    def _encode(self, event: Event) -> str:
        match event:
            case ContentDelta():
                opened = "" if self._kind == self._text else self._begin(self._text)
                told = self._logprobs and self._kind == "message"
                return opened + (self._delta_with_logprobs(event.text) if told else self._delta(event.text))
            case ToolCallArguments():
                return self._delta(event.fragment if self._input is None else self._input.feed(event.fragment))
            case ReasoningDelta():
                if self.shape.compacts:
                    return ""
                opened = "" if self._kind == "reasoning" else self._begin("reasoning")
                return opened + self._delta(event.text)
            case ToolCallStart(_, name):
                return self._call(self.shape.target(name))
            case ToolCallEnd(_, complete):
                return self._call_ended(complete=complete)
            case Finish(reason):
                return self._finish(reason)
            case Notice():
                return ""
            case _:
                assert_never(event)

    def _delta(self, text: str) -> str:
        """The hot path: one delta of the open item. A search is told at once, when it is whole."""
        if not text:
            return ""
        self._texts.append(text)
        if not self._delta_close:
            return ""
        number = self._sequence
        self._sequence = number + 1
        return f"{self._delta_open}{number}{self._delta_middle}{quoted(text)}{self._delta_close}"

    def _delta_with_logprobs(self, text: str) -> str:
        """Those of the read that the text came with, markup included."""
        logprobs, self._logprobs = list(self._logprobs or ()), None
        if self._open is not None:
            self._open.logprobs += logprobs
        plain = self._delta(text)
        return f'{plain.removesuffix(self._delta_close)},"logprobs":{json.dumps(logprobs_list(logprobs))}}}\n\n'

    def _call(self, target: Target) -> str:
        self._input = InputText() if target.kind == "custom" else None
        return self._begin(CALLS[target.kind], target)

    def _begin(self, kind: Kind, target: Target | None = None) -> str:
        """The frames that lead from the open item, if any, into a new one."""
        ended = self._end()
        item = self._open = Item(kind, len(self._items), target)
        self._kind, self._texts = kind, item.texts
        self._items.append(item)
        self._prepare(item)
        begun = self._frame("response.output_item.added", {"output_index": item.position, "item": item.begun(self.shape)})
        if kind in ("message", "reasoning"):
            begun += self._frame(self._part_event("added"), {**self._place(item), "part": item.part(self.shape, empty=True)})
        return ended + begun

    def _prepare(self, item: Item) -> None:
        """The constant text around each delta of this item."""
        if item.kind not in CONTENT:
            self._delta_close = ""
            return
        name = f"{self._content_event(item.kind)}.delta"
        place = json.dumps(self._place(item), separators=(",", ":"))[1:-1]
        self._delta_open = f'event: {name}\ndata: {{"type":"{name}","sequence_number":'
        self._delta_middle = f',{place},"delta":'
        self._delta_close = ',"logprobs":[]}\n\n' if item.kind == "message" else "}\n\n"

    def _place(self, item: Item) -> Json:
        place: Json = {"item_id": self.shape.item_id(item.kind, item.position), "output_index": item.position}
        if item.kind == "message" or (item.kind == "reasoning" and not self.shape.summary):
            place["content_index"] = 0
        elif item.kind == "reasoning":
            place["summary_index"] = 0
        return place

    def _content_event(self, kind: Kind) -> str:
        summary = kind == "reasoning" and self.shape.summary
        return f"response.{'reasoning_summary_text' if summary else CONTENT.get(kind, '')}"

    def _part_event(self, what: str) -> str:
        """Only thinking as a summary has a part event of its own."""
        summary = self._open is not None and self._open.kind == "reasoning" and self.shape.summary
        return f"response.{'reasoning_summary_part' if summary else 'content_part'}.{what}"

    def _call_ended(self, *, complete: bool) -> str:
        rest = ""
        if self._input is not None:
            rest = self._delta(self._input.finish())
            self._input = None
        elif complete and self._open is not None and not self._open.texts:
            rest = self._delta("{}")
        return rest + self._end(complete=complete)

    def _end(self, *, complete: bool = True) -> str:
        """The frames that end the open item."""
        item = self._open
        if item is None:
            return ""
        item.status = "completed" if complete else "incomplete"
        place, written = self._place(item), item.written(self.shape)
        done = f"{self._content_event(item.kind)}.done"
        match item.kind:
            case "message" | "reasoning":
                part = item.part(self.shape)
                told = {"text": part["text"]} | ({"logprobs": part["logprobs"]} if item.kind == "message" else {})
                frames = self._frame(done, {**place, **told}) + self._frame(self._part_event("done"), {**place, "part": part})
            case "function_call":
                frames = self._frame(done, {**place, "name": written["name"], "arguments": written["arguments"]})
            case "custom_tool_call":
                frames = self._frame(done, {**place, "input": written["input"]})
            case _:
                frames = ""
        self._open, self._kind = None, ""
        return frames + self._frame("response.output_item.done", {"output_index": item.position, "item": written})

    def _finish(self, reason: str) -> str:
        """A turn that said nothing has an empty message rather than none."""
        self._reason = reason
        empty = "" if any(item.kind != "reasoning" for item in self._items) or reason in CUT else self._begin(self._text)
        return empty + self._end(complete=reason not in CUT)


def frame(name: str, number: int, fields: Json) -> bytes:
    """One event of the stream."""
    data = json.dumps({"type": name, "sequence_number": number, **fields}, separators=(",", ":"))
    return f"event: {name}\ndata: {data}\n\n".encode()
