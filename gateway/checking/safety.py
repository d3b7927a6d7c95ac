"""S060 and S061: text from clients that spells a control token must stay text."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.errors import GatewayError
from gateway.rendering.opening import is_thinking
from gateway.rendering.renderer import Renderer
from gateway.rendering.tokens import Control, PromptEncoder
from parsers import Tool

from .report import Check
from .subject import Look

SPELLED = re.compile(
    r"<\|[^<>|\s]{1,60}\|>|<｜[^<>\s]{1,60}｜>|<(?:start|end)_of_[a-z_]+>|\[/?[A-Z][A-Z_]{2,30}\]|</?tool_[a-z_]+>"
)
"""What looks like a control token in a template's own text."""
MOST = 64
"""Control tokens that are tried."""
HARMLESS = "words \ue000"
"""No control token, but a character that is kept apart like one, so that the prompt is encoded in the same way."""
TOKENIZER = "Set tokenizer to the model's folder or hub id, so that prompts are sent as token ids."


def safety_checks(look: Look) -> list[Check]:
    """S060 and S061."""
    encoder = look.renderer.encoder
    if look.subject.sends == "text" or (look.subject.sends is not None and encoder is None):
        what = "Prompts go out as text: what clients write can become a control token."
        return [Check(check_id, "warn", what, TOKENIZER) for check_id in ("S060", "S061")]
    attack = _Attack(look.renderer, encoder or _stand_in(look.template.literals))
    proved = (
        "becomes no control token" if encoder else "is kept apart from the template's (ids are not looked at: no tokenizer here)"
    )
    return [
        _check("S060", attack.in_messages(), f"A control token in messages, results or arguments {proved}."),
        _check(
            "S061", attack.in_tools() if look.can.tools else "", f"A control token in tools' names and descriptions {proved}."
        ),
    ]


def _check(check_id: str, problem: str, message: str) -> Check:
    if problem:
        return Check(check_id, "fail", problem, "Do not let untrusted text reach this model; please report it with the template.")
    return Check(check_id, "pass", message)


def _stand_in(literals: str) -> PromptEncoder:
    """An encoder that knows the template's control tokens by number and spells everything else by character."""
    controls = {text: Control(0x110000 + number) for number, text in enumerate(sorted(set(SPELLED.findall(literals))))}
    return PromptEncoder(controls, plain=_characters, ordinary=None)


def _characters(text: str) -> list[int]:
    return [ord(character) for character in text]


class _Attack:
    """Renders a conversation once with harmless words and once with control tokens in their place."""

    def __init__(self, renderer: Renderer, encoder: PromptEncoder) -> None:
        self._renderer = renderer
        self._encoder = encoder
        spelled = [text for text in encoder.controls if not is_thinking(text)]  # templates split an answer on thinking markers
        self._words = " ".join(spelled[:MOST])

    def in_messages(self) -> str:
        """Every place in which the template shows text; what it refuses, other checks tell."""
        tools = [_tool("look_up", "x")]
        whole = _conversation("x")
        shown = next((few for few in (whole, [*whole[:2], *whole[4:]], whole[1:2]) if self._renders(few, tools)), [])
        kept = [whole.index(message) for message in shown]
        if not kept:
            return ""
        return self._compared(lambda text: ([_conversation(text)[at] for at in kept], tools))

    def _renders(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Tool]) -> bool:
        try:
            self._controls(messages, tools)
        except GatewayError:
            return False
        return True

    def in_tools(self) -> str:
        user = [{"role": "user", "content": "x"}]
        if not self._renders(user, [_tool("look_up", "x")]):
            return ""
        return self._compared(lambda text: (user, [_tool("look_up", text)]))

    def _compared(self, place: Any) -> str:
        harmless = self._controls(*place(HARMLESS))
        forged = self._controls(*place(self._words))
        extra = sum(forged.values()) - sum(harmless.values())
        return f"{extra} control tokens of a client's text reach the engine as such." if forged != harmless else ""

    def _controls(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Tool]) -> dict[int, int]:
        shown = tools if self._renderer.capabilities.tools else ()
        ids = self._renderer.render_with(self._encoder, messages, shown).token_ids or ()
        counted: dict[int, int] = {}
        for number in ids:
            if self._encoder.is_control(number):
                counted[number] = counted.get(number, 0) + 1
        return counted


def _conversation(text: str) -> list[Mapping[str, Any]]:
    arguments = {"word": text}
    call = {"id": "abcdefgh1", "type": "function", "function": {"name": "look_up", "arguments": arguments}}
    return [
        {"role": "system", "content": text},
        {"role": "user", "content": text},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "abcdefgh1", "content": text},
        {"role": "assistant", "content": f"x {text}"},
        {"role": "user", "content": [{"type": "text", "text": text}]},
    ]


def _tool(name: str, text: str) -> Tool:
    return Tool(name, text, {"type": "object", "properties": {"word": {"type": "string", "description": text, "enum": [text]}}})
