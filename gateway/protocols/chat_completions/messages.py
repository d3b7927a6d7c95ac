"""Messages of the wire as plain conversation: what each role demands is checked, legacy forms are replaced."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.protocols.custom_input import arguments_of
from gateway.protocols.validation import missing, wrong_type

from . import schema as wire

Message = dict[str, Any]


def decoded_messages(messages: Sequence[wire.Message]) -> tuple[Message, ...]:
    """The conversation in today's shape: `function_call` and role `function` have become calls and results with ids."""
    legacy = _LegacyIds()
    return tuple(_message(index, message, legacy) for index, message in enumerate(messages))


class _LegacyIds:
    """Ids for calls of a time that had none: a function's result answers the latest call of that name."""

    def __init__(self) -> None:
        self._latest: dict[str, str] = {}

    def called(self, index: int, name: str) -> str:
        self._latest[name] = f"call_legacy_{index}"
        return self._latest[name]

    def answered(self, index: int, name: str) -> str:
        return self._latest.pop(name, f"call_legacy_{index}")


def _message(index: int, message: wire.Message, legacy: _LegacyIds) -> Message:
    place = f"messages[{index}]"
    content = _content(place, message.content)
    match message.role:
        case "assistant":
            return _assistant(index, message, content, legacy)
        case "tool":
            found: Message = {"role": "tool", "content": "" if content is None else content}
            return {**found, "tool_call_id": message.tool_call_id} if message.tool_call_id else found
        case "function":
            if message.name is None:
                raise missing(f"{place}.name")
            return {"role": "tool", "content": content or "", "tool_call_id": legacy.answered(index, message.name)}
        case role:
            if content is None:
                raise missing(f"{place}.content")
            return {"role": role, "content": content} | ({"name": message.name} if message.name else {})


def _assistant(index: int, message: wire.Message, content: Any, legacy: _LegacyIds) -> Message:
    found: Message = {"role": "assistant", "content": content if content is not None else message.refusal}
    calls = [_call(f"messages[{index}].tool_calls[{at}]", call) for at, call in enumerate(message.tool_calls)]
    if message.function_call is not None and not calls:
        calls = [_function_call(message.function_call, legacy.called(index, message.function_call.name))]
    if calls:
        found["tool_calls"] = calls
    elif found["content"] is None:
        found["content"] = ""
    reasoning = message.reasoning_content or message.reasoning
    if isinstance(reasoning, str) and reasoning:
        found["reasoning_content"] = reasoning
    return found


def _call(place: str, call: wire.ToolCall) -> Message:
    if call.type == "custom":
        if call.custom is None:
            raise missing(f"{place}.custom")
        return _function_call(wire.FunctionCall(name=call.custom.name, arguments=arguments_of(call.custom.input)), call.id)
    if call.function is None:
        raise missing(f"{place}.function")
    return _function_call(call.function, call.id)


def _function_call(function: wire.FunctionCall, call_id: str | None) -> Message:
    given = function.arguments
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    call: Message = {"type": "function", "function": {"name": function.name, "arguments": arguments or "{}"}}
    return {"id": call_id, **call} if call_id else call


def _content(place: str, content: str | list[dict[str, Any]] | None) -> Any:
    if not isinstance(content, list):
        return content
    return [_part(f"{place}.content[{index}]", part) for index, part in enumerate(content)]


def _part(place: str, part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Text in one shape; whatever else a part may be is left for the model's template to take or refuse."""
    kind = part.get("type")
    if kind is None:
        raise missing(f"{place}.type")
    if not isinstance(kind, str):
        raise wrong_type(f"{place}.type", "a string", kind)
    if kind not in ("text", "refusal"):
        return part
    text = part.get(kind)
    if text is None:
        raise missing(f"{place}.{kind}")
    if not isinstance(text, str):
        raise wrong_type(f"{place}.{kind}", "a string", text)
    return {"type": "text", "text": text}
