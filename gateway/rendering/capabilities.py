"""What a chat template can render, found by rendering needles. Nothing here knows a model's name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .environment import RenderFailure, Template
from .opening import common_prefix, without_thinking
from .switches import THINKING_SWITCHES

Messages = Sequence[Mapping[str, Any]]
ArgumentForm = Literal["mapping", "string"]
CallContent = Literal["empty", "null", "missing"]

_NINE = ("abcdefgh1", "abcdefgh2")
_LONG_ID = "call_abc123xyz"
_TOOL = {
    "type": "function",
    "function": {
        "name": "needletool",
        "description": "needledescription",
        "parameters": {"type": "object", "properties": {"needlekey": {"type": "string", "description": "needleproperty"}}},
    },
}
_BARE_TOOL = {"type": "function", "function": {"name": "needletool", "parameters": {"type": "object", "properties": {}}}}
_USER = {"role": "user", "content": "needleuser"}
_LAST = {"role": "user", "content": "needlelast"}
_ANSWER = {"role": "assistant", "content": "needleanswer"}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One template's abilities. `header` is what it writes before an assistant's text."""

    header: str
    arguments: ArgumentForm
    broken_arguments: bool
    """Whether text that is no JSON object can stand where a call's arguments go."""
    call_content: CallContent
    calls: bool
    text_beside_calls: bool
    parallel_calls: bool
    splits_calls: bool
    """Whether parallel calls must and can be told one after the other."""
    results: bool
    nine_character_ids: bool
    tools: bool
    needs_description: bool
    text_lists: bool
    """Whether content must be a list of parts."""
    part_joiner: str
    system: bool
    developer: bool
    late_system: bool
    same_role_twice: bool
    reasoning_key: str | None


class _Probe:
    """Renders needles; a refusal is None."""

    def __init__(self, template: Template) -> None:
        self.template = template

    def text(self, messages: Messages, tools: Sequence[Mapping[str, Any]] = ()) -> str | None:
        try:
            return self.template.render(messages, tools, generation=False)
        except RenderFailure:
            return None

    def generation(self, *, thinking: bool | None) -> str:
        """The generation prompt after a user's message, with thinking asked for, forbidden or not mentioned."""
        extra = {} if thinking is None else dict.fromkeys(self.template.reads.intersection(THINKING_SWITCHES), thinking)
        try:
            bare, full = (self.template.render([_USER], generation=on, extra=extra) for on in (False, True))
        except RenderFailure:
            return ""
        return full[len(common_prefix(bare, full)) :]

    def shows(self, messages: Messages, *needles: str, tools: Sequence[Mapping[str, Any]] = ()) -> bool:
        """Whether every needle arrives, in this order."""
        text, at = self.text(messages, tools), 0
        if text is None:
            return False
        for needle in needles:
            at = text.find(needle, at)
            if at < 0:
                return False
        return True


def probe(template: Template) -> Capabilities:
    """Everything the adaptations ask of this template; a few dozen small renders."""
    look = _Probe(template)
    template.null_tools = look.text([_USER]) is not None
    lists = not look.shows([_USER], "needleuser") and look.shows([_parted("needleuser")], "needleuser")
    call = _call_form(look)
    arguments, content = call or ("mapping", "empty")
    history = _History(arguments, content)
    parallel = look.shows(history.two(), "needlevalue1", "needlevalue2", "needleresult1", "needleresult2", tools=[_TOOL])
    one_by_one = look.shows([*history.one(), *history.one(_NINE[1])[1:]], "needlevalue1", "needlevalue2", tools=[_TOOL])
    return Capabilities(
        header=_header(look),
        arguments=arguments,
        broken_arguments=arguments == "string" or look.text(_History("string", content).one()) is not None,
        call_content=content,
        calls=call is not None,
        text_beside_calls=look.shows(history.one(text="needletext"), "needletext", "needlecall"),
        parallel_calls=parallel,
        splits_calls=not parallel and one_by_one,
        results=look.shows(history.one(), "needleresult", tools=[_TOOL]),
        nine_character_ids=_wants_nine(look, history),
        tools=_shows_tools(look),
        needs_description=look.text([_USER], [_BARE_TOOL]) is None and look.text([_USER], [_TOOL]) is not None,
        text_lists=lists,
        part_joiner=_joiner(look),
        system=look.shows([_system("needlesystem"), _USER], "needlesystem", "needleuser"),
        developer="developer" in template.words
        and look.shows([{"role": "developer", "content": "needledeveloper"}, _USER], "needledeveloper", "needleuser"),
        late_system=_keeps_late_system(look),
        same_role_twice=look.text([_USER, _LAST]) is not None,
        reasoning_key=next((key for key in ("reasoning_content", "reasoning", "thinking") if key in template.words), None),
    )


@dataclass(frozen=True, slots=True)
class _History:
    """Conversations that hold calls, in one of the forms a template may want."""

    arguments: ArgumentForm
    content: CallContent

    def call(self, call_id: str) -> dict[str, Any]:
        value = "needlevalue" + call_id[-1]
        arguments: Any = {"needlekey": value} if self.arguments == "mapping" else f'{{"needlekey": "{value}"}}'
        return {"id": call_id, "type": "function", "function": {"name": "needlecall", "arguments": arguments}}

    def turn(self, *ids: str, text: str | None = None) -> dict[str, Any]:
        turn = {"role": "assistant", "content": text, "tool_calls": [self.call(call_id) for call_id in ids]}
        if text is None and self.content == "empty":
            turn["content"] = ""
        if text is None and self.content == "missing":
            del turn["content"]
        return turn

    def one(self, call_id: str = _NINE[0], *, text: str | None = None) -> list[Mapping[str, Any]]:
        return [_USER, self.turn(call_id, text=text), _result(call_id, "needleresult")]

    def two(self) -> list[Mapping[str, Any]]:
        return [_USER, self.turn(*_NINE), _result(_NINE[0], "needleresult1"), _result(_NINE[1], "needleresult2")]


def _result(call_id: str, text: str) -> Mapping[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "name": "needlecall", "content": text}


def _system(text: str) -> Mapping[str, Any]:
    return {"role": "system", "content": text}


def _parted(*texts: str) -> Mapping[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def _call_form(look: _Probe) -> tuple[ArgumentForm, CallContent] | None:
    """The first form whose call arrives once and unescaped; null must not be printed as a word."""
    forms: tuple[ArgumentForm, ...] = ("mapping", "string")
    contents: tuple[CallContent, ...] = ("empty", "null", "missing")
    for form in forms:
        for content in contents:
            history = _History(form, content).one()
            text = look.text(history, [_TOOL])
            if text is None:
                continue
            call = text[: text.rfind("needleresult")].rpartition("needleuser")[2]
            if "needlecall" in call and "needlevalue" in call and '\\"needlevalue' not in text and "None" not in call:
                return form, content
    return None


def _header(look: _Probe) -> str:
    before, after = look.text([_USER]), look.text([_USER, _ANSWER, _LAST])
    if before is None or after is None:
        return ""
    start = len(common_prefix(before, after))
    end = after.find("needleanswer", start)
    header = without_thinking(after[start:end]) if end >= 0 else ""
    prompts = [look.generation(thinking=thinking) for thinking in (None, True, False)]
    shorter = (generation for generation in prompts if header.startswith(generation))
    return min(filter(None, shorter), key=len, default=header)


def _wants_nine(look: _Probe, history: _History) -> bool:
    """Nine letters or digits and nothing else: it refuses a longer id, or cuts one down to its end."""
    long, short = look.text(history.one(_LONG_ID), [_TOOL]), look.text(history.one(), [_TOOL])
    if long is None:
        return short is not None
    return _LONG_ID not in long and _LONG_ID[-9:] in long


def _shows_tools(look: _Probe) -> bool:
    asked = look.text([_USER], [_TOOL])
    return asked is not None and all(needle in asked for needle in ("needletool", "needledescription", "needlekey"))


def _joiner(look: _Probe) -> str:
    """What the template itself puts between two text parts; a line break where it cannot read parts."""
    text = look.text([_parted("needleone", "needletwo")]) or ""
    first, second = text.find("needleone"), text.find("needletwo")
    between = text[first + len("needleone") : second] if 0 <= first < second else "\n"
    return between if not between.strip() else "\n"


def _keeps_late_system(look: _Probe) -> bool:
    late = look.shows([_USER, _ANSWER, _system("needlelate"), _LAST], "needleanswer", "needlelate", "needlelast")
    return late and look.shows([_system("needleone"), _system("needletwo"), _USER], "needleone", "needletwo")
