"""Which format a template speaks: the one whose parser reads back what the template writes for a known call.

Names and globs tell nothing about a renamed fine-tune; its own template does.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import parsers
from gateway.errors import GatewayError
from parsers import Message, Tool, ToolCall

from .opening import common_prefix
from .renderer import Renderer

_TOOL = Tool(
    "look_up",
    "Looks something up.",
    {"type": "object", "properties": {"word": {"type": "string"}, "count": {"type": "integer"}}},
)
_QUESTION = {"role": "user", "content": "What is it?"}
_IDS = ("abcdefgh1", "abcdefgh2")
_MARK = "needleanswer"


def rendered_turn(renderer: Renderer, message: Message) -> str:
    """The assistant's turn as the template writes it in history: no role header, no end of turn."""
    tools = [_TOOL] if message.tool_calls else []
    before = renderer.history([_QUESTION], tools)
    after = renderer.history([_QUESTION, _wire(message)], tools)
    turn = after[len(common_prefix(before, after)) :]
    turn = turn.removeprefix(renderer.capabilities.header)
    end = renderer.history([_QUESTION, {"role": "assistant", "content": _MARK}], tools).rpartition(_MARK)[2]
    return turn.removesuffix(end)


def pick_format(renderer: Renderer) -> str | None:
    """The name of the format that fits best, or None. Among equals: most samples read back, fewest notices, first by name."""
    samples = [sample for sample in (_sample(renderer, message) for message in _messages()) if sample is not None]
    if not samples or not samples[0].message.tool_calls:
        return None
    scores = {name: _score(name, samples) for name in parsers.names()}
    fitting = [name for name, score in scores.items() if score[0]]
    return max(sorted(fitting), key=lambda name: scores[name], default=None)


@dataclass(frozen=True, slots=True)
class _Sample:
    message: Message
    turn: str


def _messages() -> Iterator[Message]:
    call = ToolCall("look_up", '{"word": "na\\u00efve \\"x\\"", "count": 3}', _IDS[0])
    yield Message(tool_calls=(call,))
    yield Message(tool_calls=(call, ToolCall("look_up", '{"word": "two"}', _IDS[1])))
    yield Message(content="One moment.", tool_calls=(call,))
    yield Message(reasoning="It must be looked up.", tool_calls=(call,))
    yield Message(content="It is a word.")


def _sample(renderer: Renderer, message: Message) -> _Sample | None:
    """None where the template cannot say this message or would lose a part of it."""
    can = renderer.capabilities
    lost = (
        (message.tool_calls and not can.calls)
        or (message.content and message.tool_calls and not can.text_beside_calls)
        or (message.reasoning and not can.reasoning_key)
        or (len(message.tool_calls) > 1 and not can.parallel_calls)
    )
    if lost:
        return None
    try:
        return _Sample(message, rendered_turn(renderer, message))
    except GatewayError:
        return None


def _score(name: str, samples: list[_Sample]) -> tuple[bool, int, int]:
    """Whether the first call came back, how many samples did, and how quietly."""
    read = [_read(name, sample.turn) for sample in samples]
    same = [_same(sample.message, message) for sample, message in zip(samples, read, strict=True)]
    notices = sum(len(message.notices) for message in read)
    return same[0], sum(same), -notices


def _read(name: str, turn: str) -> Message:
    parser = parsers.Parser(parsers.get(name), tools=[_TOOL])
    return parsers.fold([*parser.feed(turn), *parser.finish("stop")])


def _same(written: Message, read: Message) -> bool:
    return (
        _stripped(written.content) == _stripped(read.content)
        and _stripped(written.reasoning) == _stripped(read.reasoning)
        and [_call(call) for call in written.tool_calls] == [_call(call) for call in read.tool_calls]
    )


def _stripped(text: str | None) -> str:
    return (text or "").strip()


def _call(call: ToolCall) -> tuple[str, Any]:
    try:
        return call.name, json.loads(call.arguments)
    except ValueError:
        return call.name, call.arguments


def _wire(message: Message) -> Mapping[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.tool_calls
    ]
    return {
        "role": "assistant",
        "content": message.content,
        **({"reasoning_content": message.reasoning} if message.reasoning else {}),
        **({"tool_calls": calls} if calls else {}),
    }
