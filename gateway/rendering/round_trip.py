"""Which format a template speaks: the one whose parser reads back what the template writes for a known call.

Names and globs tell nothing about a renamed fine-tune; its own template does.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import parsers
from gateway.errors import GatewayError
from parsers import Format, Message, Tool, ToolCall, UnwritableError

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
    turn = _without_header(turn, renderer.capabilities.header)
    return turn.removesuffix(_ending(renderer, tools))


def _ending(renderer: Renderer, tools: list[Tool]) -> str:
    """What the template writes after an answer."""
    return renderer.history([_QUESTION, {"role": "assistant", "content": _MARK}], tools).rpartition(_MARK)[2]


def _without_header(turn: str, header: str) -> str:
    """Some templates indent their headers differently from place to place."""
    if turn.startswith(header):
        return turn.removeprefix(header)
    return turn.lstrip().removeprefix(header.strip()) if turn.lstrip().startswith(header.strip()) else turn


def pick_format(renderer: Renderer) -> str | None:
    """The name of the format that fits best, or None.

    Of those that read the plain call back the best is the one that reads most of the other samples too; among equals the one
    that would write them as the template does, then the one whose turns end as the template's do, then one of the widespread
    formats, for which there is a template of ours.
    """
    samples = [sample for sample in (_sample(renderer, message) for message in _messages()) if sample is not None]
    if not samples or not samples[0].message.tool_calls:
        return None
    ending = _ending(renderer, [_TOOL])
    scores = {name: _score(parsers.get(name), samples, ending) for name in parsers.names()}
    fitting = [name for name, score in scores.items() if score[0]]
    return max(sorted(fitting), key=lambda name: (scores[name], parsers.get(name).template is not None), default=None)


@dataclass(frozen=True, slots=True)
class _Sample:
    message: Message
    turn: str


def _messages() -> Iterator[Message]:
    """The plainest call first: a format that cannot read it back is out. The harder ones tell the others apart."""
    plain = ToolCall("look_up", '{"word": "plain"}', _IDS[0])
    hard = ToolCall("look_up", '{"word": "naïve \\"x\\"", "count": 3}', _IDS[1])
    yield Message(tool_calls=(plain,))
    yield Message(tool_calls=(hard,))
    yield Message(tool_calls=(plain, hard))
    yield Message(content="One moment.", tool_calls=(plain,))
    yield Message(reasoning="It must be looked up.", tool_calls=(plain,))
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


def _score(fmt: Format, samples: list[_Sample], ending: str) -> tuple[bool, int, int, bool, int]:
    """Whether the plain call came back, and nothing else; how many samples did; how many it writes alike; its ending; quiet."""
    pairs = [(sample.message, _read(fmt, sample.turn)) for sample in samples]
    calls = [_calls(written) == _calls(read) for written, read in pairs]
    texts = [_texts(written) == _texts(read) for written, read in pairs]
    ends = any(stop in ending for stop in fmt.stop)
    notices = sum(len(read.notices) for _, read in pairs)
    return calls[0] and texts[0], sum(calls) + sum(texts), sum(_writes(fmt, sample) for sample in samples), ends, -notices


def _read(fmt: Format, turn: str) -> Message:
    parser = parsers.Parser(fmt, tools=[_TOOL])
    return parsers.fold([*parser.feed(turn), *parser.finish("stop")])


def _writes(fmt: Format, sample: _Sample) -> bool:
    """Whether the template's text is the format's own; what a template puts before it, an empty thought say, is allowed."""
    try:
        return sample.turn.strip().endswith(parsers.write(fmt, sample.message).strip())
    except UnwritableError:
        return False


def _texts(message: Message) -> tuple[str, str]:
    return (message.content or "").strip(), (message.reasoning or "").strip()


def _calls(message: Message) -> list[tuple[str, Any]]:
    return [(call.name, _value(call.arguments)) for call in message.tool_calls]


def _value(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


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
