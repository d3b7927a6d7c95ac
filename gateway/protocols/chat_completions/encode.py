"""Events as the chunks of a stream. Everything constant is prepared once; a delta costs one escaped string between two prefixes.

Text goes out as ASCII JSON: some clients cut lines at U+2028 or decode each network packet by itself, and would break UTF-8.
"""

import json
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import assert_never

from gateway.chat.events import Batch, TokenLogprob, Usage
from gateway.chat.flow import Leave, Wait
from gateway.errors import GatewayError
from gateway.protocols.custom_input import InputText
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

from .shape import Shape, logprobs_object, usage_object
from .thinking import InContent

DONE = "data: [DONE]\n\n"


class StreamEncoder:
    """Writes one answer's stream: `opening`, any number of `encode`, then `closing` or `failure`."""

    def __init__(self, shape: Shape) -> None:
        self._head = (
            f'data: {{"id":"{shape.id}","object":"chat.completion.chunk","created":{shape.created},'
            f'"model":{quoted(shape.model)},"system_fingerprint":null,"service_tier":"default","choices":['
        )
        self._usage = ',"usage":null' if shape.include_usage else ""
        self._shape = shape
        self._last: list[str] = []
        """Chunks that finish a choice, where one of them tells the tokens of all."""
        self._end = f"}}]{self._usage}}}\n\n"
        self._choices = [_Choice(index, shape, self._head, self._usage) for index in range(shape.choices)]

    def opening(self) -> bytes:
        """The chunks that give each choice its role, without content: a turn may be calls only."""
        role = f'{{"role":"assistant","content":{self._shape.profile.no_content},"refusal":null}}'
        return "".join(choice.chunk(role) for choice in self._choices).encode()

    def encode(self, batches: Sequence[Batch]) -> bytes:
        """All chunks of what one read of the engine gave."""
        chunks: list[str] = []
        for batch in batches:
            choice = self._choices[batch.choice]
            if batch.logprobs:
                choice.logprobs += batch.logprobs
            if batch.stop is not None:
                choice.stop = batch.stop
            for event in choice.seen(batch.events):
                chunks.append(self._finished(choice, event.reason) if type(event) is Finish else choice.encode(event))
        return "".join(chunks).encode("ascii")

    def leave(self, kind: Delta, write: Callable[[bytes], Wait | None]) -> Leave | None:
        """What writes deltas of this kind as `encode` would, of an only choice; None where they need more than that."""
        around = self._choices[0].around(kind)
        if around is None:
            return None
        before, behind = around
        between = behind + before
        return lambda texts: write(f"{before}{between.join(map(quoted, texts))}{behind}".encode("ascii"))

    def closing(self, usage: Usage | None) -> bytes:
        """What follows the last event."""
        told = "null" if usage is None else json.dumps(usage_object(usage))
        if self._last:
            *others, last = self._last
            plain = "".join(f"{chunk}{self._end}" for chunk in others)
            return f'{plain}{last}}}],"usage":{told}}}\n\n{DONE}'.encode()
        if not self._shape.include_usage or usage is None:
            return DONE.encode()
        return f'{self._head}],"usage":{told}}}\n\n{DONE}'.encode()

    def _finished(self, choice: "_Choice", reason: str) -> str:
        """The chunks that finish a choice; the last one waits where the tokens will stand on it."""
        empty, chunk = choice.finished(reason)
        if self._shape.profile.usage == "own chunk":
            return f"{empty}{chunk}{self._end}"
        self._last.append(chunk)
        return empty

    def failure(self, error: GatewayError) -> bytes:
        """A failure in mid-stream. No [DONE] follows, so that no client takes the answer for whole."""
        return f"data: {json.dumps(error.body())}\n\n".encode()


class _Choice:
    """The state of one choice: what has been written, and the constant text around each kind of delta."""

    def __init__(self, index: int, shape: Shape, head: str, usage: str) -> None:
        self._index = index
        self._shape = shape
        self._thinking = InContent() if shape.thinks_aloud else None
        self.stop: str | None = None
        """The stop text that ended it, once one has."""
        self._open = f'{head}{{"index":{index},"delta":'
        self._end = f"}}]{usage}}}\n\n"
        self._close = f',"logprobs":null,"finish_reason":null{self._end}'
        self._content = f'{self._open}{{"content":'
        self._arguments = ""
        self._arguments_close = ""
        self._empty_arguments = True
        """The open call has none yet."""
        self._input: InputText | None = None
        """Reads the input of the open call, which is a custom tool's."""
        self._wordless = True
        """Neither content nor a call has been written."""
        self.logprobs: list[TokenLogprob] = []
        """Those that no chunk has taken along yet."""

    def chunk(self, delta: str) -> str:
        """A chunk around this delta."""
        return f"{self._open}{delta}{self._closing()}"

    def encode(self, event: Event) -> str:
        """The chunks of one event, none or more."""
        match event:
            case ContentDelta():
                self._wordless = False
                return f"{self._content}{quoted(event.text)}}}{self._closing() if self.logprobs else self._close}"
            case ToolCallArguments():
                return self._more_arguments(event.index, event.fragment)
            case ReasoningDelta(text):
                if not self._shape.reasoning:
                    return ""
                text = quoted(text)
                return self.chunk(f'{{"reasoning":{text},"reasoning_content":{text}}}')
            case ToolCallStart(index, name):
                return self._start(index, name)
            case ToolCallEnd(index, complete):
                return self._ended(index, complete=complete)
            case Notice() | Finish():
                return ""
            case _:
                assert_never(event)

    def around(self, kind: Delta) -> tuple[str, str] | None:
        """What stands before and behind the text of further deltas of this kind; None where more is to be done for each."""
        if self.logprobs or self._thinking is not None:
            return None
        if kind is ContentDelta:
            return self._content, f"}}{self._close}"
        if kind is ToolCallArguments and self._input is None and not self._shape.legacy:
            return self._arguments, f"{self._arguments_close}{self._close}"
        return None

    def _closing(self) -> str:
        return f',"logprobs":{self._waiting_logprobs()},"finish_reason":null{self._end}' if self.logprobs else self._close

    def _waiting_logprobs(self) -> str:
        if not self.logprobs:
            return "null"
        text = json.dumps(logprobs_object(self.logprobs))
        self.logprobs = []
        return text

    def _start(self, index: int, name: str) -> str:
        """The delta that opens a call: the only one with its id, type and name, which clients would otherwise join or lose."""
        self._wordless = False
        self._empty_arguments = True
        if self._shape.legacy:
            self._arguments, self._arguments_close = f'{self._open}{{"function_call":{{"arguments":', "}}"
            return self.chunk(f'{{"function_call":{{"name":{quoted(name)},"arguments":""}}}}') if index == 0 else ""
        call = f'{{"tool_calls":[{{"index":{index},'
        self._arguments, self._arguments_close = f'{self._open}{call}"function":{{"arguments":', "}}]}"
        call_id = self._shape.call_id(self._index, index)
        if name in self._shape.custom:
            self._input = InputText()
            self._arguments, self._arguments_close = f'{self._open}{call}"custom":{{"input":', "}}]}"
            return self.chunk(f'{call}"id":"{call_id}","type":"custom","custom":{{"name":{quoted(name)},"input":""}}}}]}}')
        return self.chunk(f'{call}"id":"{call_id}","type":"function","function":{{"name":{quoted(name)},"arguments":""}}}}]}}')

    def _more_arguments(self, index: int, fragment: str) -> str:
        if self._shape.legacy and index:
            return ""
        self._empty_arguments = False
        if self._input is not None:
            fragment = self._input.feed(fragment)
            if not fragment:
                return ""
        return self._delta(fragment)

    def _ended(self, index: int, *, complete: bool) -> str:
        """What is left to be said of a call that is over."""
        if self._input is not None:
            rest, self._input = self._input.finish(), None
            return self._delta(rest) if rest else ""
        return self._more_arguments(index, "{}") if complete and self._empty_arguments else ""

    def _delta(self, fragment: str) -> str:
        return f"{self._arguments}{quoted(fragment)}{self._arguments_close}{self._closing() if self.logprobs else self._close}"

    def seen(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events as the client sees them."""
        return events if self._thinking is None else self._thinking.passed(events)

    def finished(self, reason: str) -> tuple[str, str]:
        """What must be said before the end, and the chunk with the reason as far as its choice goes. A turn that said nothing has
        empty content rather than none."""
        empty = self.chunk('{"content":""}') if self._wordless else ""
        reason = self._shape.finish_reason(reason)
        stop = "" if self.stop is None else f',"stop_reason":{quoted(self.stop)}'
        return empty, f'{self._open}{{}},"logprobs":{self._waiting_logprobs()},"finish_reason":"{reason}"{stop}'
