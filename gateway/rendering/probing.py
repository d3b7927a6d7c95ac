"""Needles: small conversations whose words are looked for in what a template makes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .environment import RenderFailure, Template
from .opening import common_prefix
from .switches import THINKING_SWITCHES

Messages = Sequence[Mapping[str, Any]]
Tools = Sequence[Mapping[str, Any]]
ArgumentForm = Literal["mapping", "string"]
CallContent = Literal["empty", "null", "missing"]
IdRule = Literal["any", "nine", "named", "counted"]
"""What tool call ids must be: anything; nine letters or digits; `functions.NAME:NUMBER` or a mere number, counted over the
conversation."""

LONG_ID = "call_abc123xyz"
USER: Mapping[str, Any] = {"role": "user", "content": "needleuser"}
LAST: Mapping[str, Any] = {"role": "user", "content": "needlelast"}
ANSWER: Mapping[str, Any] = {"role": "assistant", "content": "needleanswer"}


class Probe:
    """Renders needles; a refusal is None. `failure` is the latest one's reason. `as_parts`: texts are given as lists of parts."""

    def __init__(self, template: Template, *, as_parts: bool = False) -> None:
        self.template = template
        self.as_parts = as_parts
        self.failure = ""

    def text(
        self, messages: Messages, tools: Tools = (), *, generation: bool = False, extra: Mapping[str, Any] | None = None
    ) -> str | None:
        if self.as_parts:
            messages = [_parted(message) for message in messages]
        try:
            return self.template.render(messages, tools, generation=generation, extra=extra)
        except RenderFailure as failure:
            self.failure = str(failure)
            return None

    def generation(self, *, thinking: bool | None) -> str:
        """The generation prompt after a user's message, with thinking asked for, forbidden or not mentioned."""
        extra = {} if thinking is None else dict.fromkeys(self.template.reads.intersection(THINKING_SWITCHES), thinking)
        bare, full = (self.text([USER], generation=on, extra=extra) for on in (False, True))
        return full[len(common_prefix(bare, full)) :] if bare is not None and full is not None else ""

    def shows(self, messages: Messages, *needles: str, tools: Tools = ()) -> bool:
        """Whether every needle arrives, in this order."""
        text, at = self.text(messages, tools), 0
        if text is None:
            return False
        for needle in needles:
            at = text.find(needle, at)
            if at < 0:
                return False
        return True


@dataclass(frozen=True, slots=True)
class History:
    """Conversations that hold calls, in one of the forms a template may want."""

    arguments: ArgumentForm = "mapping"
    content: CallContent = "empty"
    ids: IdRule = "any"

    def id(self, number: int) -> str:
        return f"functions.needlecall:{number - 1}" if self.ids == "named" else f"abcdefgh{number}"

    def call(self, number: int, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        if self.arguments == "mapping":
            given: Any = {"needlekey": f"needlevalue{number}"} if arguments is None else arguments
        else:
            given = f'{{"needlekey": "needlevalue{number}"}}'
        return {"id": self.id(number), "type": "function", "function": {"name": "needlecall", "arguments": given}}

    def turn(self, *numbers: int, text: str | None = None) -> dict[str, Any]:
        turn = {"role": "assistant", "content": text, "tool_calls": [self.call(number) for number in numbers]}
        if text is None and self.content == "empty":
            turn["content"] = ""
        if text is None and self.content == "missing":
            del turn["content"]
        return turn

    def result(self, number: int, text: str) -> Mapping[str, Any]:
        return {"role": "tool", "tool_call_id": self.id(number), "name": "needlecall", "content": text}

    def one(self, number: int = 1, *, text: str | None = None) -> list[Mapping[str, Any]]:
        return [USER, self.turn(number, text=text), self.result(number, "needleresult")]

    def two(self) -> list[Mapping[str, Any]]:
        return [USER, self.turn(1, 2), self.result(1, "needleresult1"), self.result(2, "needleresult2")]


def tool(properties: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The needle tool, in OpenAI's shape."""
    given = {"needlekey": {"type": "string", "description": "needleproperty"}} if properties is None else properties
    parameters = {"type": "object", "properties": given}
    return {
        "type": "function",
        "function": {"name": "needletool", "description": "needledescription", "parameters": parameters, **more},
    }


TOOL = tool()


def system(text: str) -> Mapping[str, Any]:
    return {"role": "system", "content": text}


def _parted(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message.get("content")
    return {**message, "content": [{"type": "text", "text": content}]} if isinstance(content, str) else message


def parted(*texts: str) -> Mapping[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}
