"""Known assistant turns as a template writes them: what a format's parser must read back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gateway.errors import GatewayError
from parsers import Message, Tool, ToolCall

from .opening import MARKER, common_prefix
from .renderer import Renderer
from .switches import THINKING_SWITCHES

TOOL = Tool(
    "look_up",
    "Looks something up.",
    {"type": "object", "properties": {"word": {"type": "string"}, "count": {"type": "integer"}}},
)
Kind = Literal["call", "typed call", "two calls", "text and call", "reasoning and call", "answer"]

_QUESTION = {"role": "user", "content": "What is it?"}
_MARK = "needleanswer"


@dataclass(frozen=True, slots=True)
class Sample:
    """A message, and the turn that the template makes of it: no role header, no end of turn that every answer has."""

    kind: Kind
    message: Message
    turn: str


@dataclass(frozen=True, slots=True)
class Lost:
    """A message that the template cannot say, and why."""

    kind: Kind
    reason: str


def samples_of(renderer: Renderer) -> list[Sample | Lost]:
    """One entry for each message; the plainest call first: a format that cannot read it back is out."""
    return [_sample(renderer, kind, message) for kind, message in _messages()]


def ending_of(renderer: Renderer) -> str:
    """What the template writes after an answer; empty where it refuses one."""
    try:
        return _ending(renderer, [TOOL])
    except GatewayError:
        return ""


def rendered_turn(renderer: Renderer, message: Message, tool: Tool = TOOL, *, thinking: bool | None = None) -> str:
    """The assistant's turn as the template writes it in history: no role header, no end of turn.

    `thinking`: what the template's switch says; None leaves it alone.
    """
    tools = [tool] if message.tool_calls else []
    options = {} if thinking is None else {THINKING_SWITCHES[0]: thinking}
    before = renderer.history([_QUESTION], tools, options)
    after = renderer.history([_QUESTION, _wire(message)], tools, options)
    turn = _behind_question(before, after[len(common_prefix(before, after)) :])
    turn = _without_header(turn, renderer.capabilities.header)
    return _without_ending(turn, _ending(renderer, tools))


def _behind_question(before: str, turn: str) -> str:
    """Some templates write the question otherwise once it is answered; what followed it then still stands before the turn."""
    question = str(_QUESTION["content"])
    if question not in turn:
        return turn
    return turn.rpartition(question)[2].removeprefix(before.rpartition(question)[2])


def _messages() -> Iterator[tuple[Kind, Message]]:
    plain = ToolCall("look_up", '{"word": "plain"}', "abcdefgh1")
    typed = ToolCall("look_up", '{"word": "naïve \\"x\\"", "count": 3}', "abcdefgh2")
    yield "call", Message(tool_calls=(plain,))
    yield "typed call", Message(tool_calls=(typed,))
    yield "two calls", Message(tool_calls=(plain, typed))
    yield "text and call", Message(content="One moment.", tool_calls=(plain,))
    yield "reasoning and call", Message(reasoning="It must be looked up.", tool_calls=(plain,))
    yield "answer", Message(content="It is a word.")


def _sample(renderer: Renderer, kind: Kind, message: Message) -> Sample | Lost:
    can = renderer.capabilities
    if message.tool_calls and not can.calls:
        return Lost(kind, "the template drops the calls of earlier turns")
    if message.content and message.tool_calls and not can.text_beside_calls:
        return Lost(kind, "the template drops text beside calls")
    if len(message.tool_calls) > 1 and not can.parallel_calls:
        return Lost(kind, "the template takes one call a turn")
    try:
        turn = rendered_turn(renderer, message)
        if message.reasoning and message.reasoning not in turn:
            turn = rendered_turn(renderer, message, thinking=True)
    except GatewayError as error:
        return Lost(kind, str(error))
    if message.reasoning and message.reasoning not in turn:
        return Lost(kind, "the template shows no reasoning of earlier turns")
    return Sample(kind, message, turn)


def _ending(renderer: Renderer, tools: list[Tool]) -> str:
    return renderer.history([_QUESTION, {"role": "assistant", "content": _MARK}], tools).rpartition(_MARK)[2]


def _without_ending(turn: str, ending: str) -> str:
    """Some templates end a call otherwise than an answer, but go on with the same words after both."""
    if ending and turn.endswith(ending):
        return turn.removesuffix(ending)
    tails = (ending[match.start() :] for match in MARKER.finditer(ending))
    return turn.removesuffix(next((tail for tail in tails if turn.endswith(tail)), ""))


def _without_header(turn: str, header: str) -> str:
    """Some templates indent their headers differently from place to place."""
    if turn.startswith(header):
        return turn.removeprefix(header)
    return turn.lstrip().removeprefix(header.strip()) if turn.lstrip().startswith(header.strip()) else turn


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
