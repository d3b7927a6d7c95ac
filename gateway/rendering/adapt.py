"""A conversation in the shape that one template can render. What is moved or lost on the way is said in a warning."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.errors import RequestError
from parsers import Tool

from .call_ids import with_ids
from .capabilities import Capabilities
from .tool_links import without_links
from .tool_schemas import with_additional_properties, with_descriptions, without_type_lists

Chat = dict[str, Any]
_KEPT = frozenset({"role", "content", "name", "tool_calls", "tool_call_id"})
_REASONING = ("reasoning_content", "reasoning", "thinking")


class Adapter:
    """Adapts one conversation; `warnings` fills as it goes."""

    def __init__(self, capabilities: Capabilities) -> None:
        self._can = capabilities
        # where tools are shown only beside a system message, the developer's must not make a second one
        self._as_system = not capabilities.developer or capabilities.tool_form.system is not None
        self.warnings: list[str] = []

    def conversation(self, messages: Sequence[Mapping[str, Any]], *, with_tools: bool = False) -> list[Chat]:
        """The same conversation, renderable. RequestError where a part of it is no text.

        Calls and results are expected to match: `gateway.chat.history.heal` sees to that.
        """
        chat = [self._message(index, message) for index, message in enumerate(messages)]
        if self._can.id_rule != "any":
            chat = with_ids(chat, self._can.id_rule)
        chat = self._systems(chat)
        if with_tools:
            chat = self._beside_system(chat)
        chat = _with_names(chat)
        if self._can.splits_calls:
            chat = self._one_call_each(chat)
        if not self._can.same_role_twice:
            chat = self._merge_neighbours(chat)
        return chat

    def tools(self, tools: Sequence[Tool]) -> list[Chat]:
        """The tools in OpenAI's shape, with the fields that every template reads."""
        return [{"type": "function", "function": self._function(tool)} for tool in tools]

    def _function(self, tool: Tool) -> Chat:
        form = self._can.tool_form
        function: Chat = {"name": tool.name}
        if tool.description or form.needs_description:
            function["description"] = tool.description
        parameters: Mapping[str, Any] = tool.parameters or {"type": "object", "properties": {}}
        if not form.links:
            parameters = without_links(parameters)
        if form.nullable != "list":
            parameters = without_type_lists(parameters, form.nullable)
        if form.needs_property_descriptions:
            parameters = with_descriptions(parameters)
        if form.needs_additional_properties:
            parameters = with_additional_properties(parameters)
        function["parameters"] = parameters
        return function

    def _beside_system(self, chat: list[Chat]) -> list[Chat]:
        """Some templates show tools only beside a system message."""
        text = self._can.tool_form.system
        if text is None or any(message["role"] == "system" for message in chat):
            return chat
        return [self._message(0, {"role": "system", "content": text}), *chat]

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    # one message

    def _message(self, index: int, message: Mapping[str, Any]) -> Chat:
        chat: Chat = {key: value for key, value in message.items() if key in _KEPT and value is not None}
        chat["content"] = self._text(index, message)
        if chat["role"] == "developer" and self._as_system:
            chat["role"] = "system"
        if chat["role"] == "assistant":
            self._assistant(index, message, chat)
        if chat["role"] == "tool" and not self._can.results:
            self._warn("The chat template drops tool results.")
        if "tool_call_id" in chat:
            chat["tool_call_id"] = str(chat["tool_call_id"])
        if self._can.text_lists and isinstance(chat.get("content"), str):
            chat["content"] = [{"type": "text", "text": chat["content"]}]
        return chat

    def _text(self, index: int, message: Mapping[str, Any]) -> str:
        content = message.get("content")
        if content is None:
            return ""
        if isinstance(content, str):
            return content
        return self._can.part_joiner.join(_part_text(f"messages[{index}].content[{at}]", part) for at, part in enumerate(content))

    def _assistant(self, index: int, message: Mapping[str, Any], chat: Chat) -> None:
        reasoning = next((message[key] for key in _REASONING if message.get(key)), None)
        if reasoning and self._can.reasoning_key:
            chat[self._can.reasoning_key] = reasoning
        calls = chat.pop("tool_calls", None)
        if not calls:
            return
        if not self._can.calls:
            self._warn("The chat template drops the tool calls of earlier turns.")
        chat["tool_calls"] = [self._call(f"messages[{index}].tool_calls[{at}]", call) for at, call in enumerate(calls)]
        if chat["content"] and not self._can.text_beside_calls:
            self._warn("The chat template drops text that stands beside tool calls in earlier turns.")
        if not chat["content"] and self._can.call_content == "null":
            chat["content"] = None
        elif not chat["content"] and self._can.call_content == "missing":
            del chat["content"]

    def _call(self, place: str, call: Mapping[str, Any]) -> Chat:
        function = call.get("function") or {}
        name = str(function.get("name") or "")
        arguments = self._arguments(place, function.get("arguments"))
        return {
            "id": str(call.get("id") or place),
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }

    def _arguments(self, place: str, arguments: Any) -> Any:
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments or {}, ensure_ascii=False)
        text = arguments if arguments.strip() else "{}"
        value = _json_object(text)
        if value is None and (value := _doubly_encoded(text)) is not None:
            self._warn(f"{place}.function.arguments is JSON inside of a JSON text; it was unpacked.")
            text = json.dumps(value, ensure_ascii=False)
        if value is not None:
            return value if self._can.arguments == "mapping" else text
        if self._can.broken_arguments:
            self._warn(f"{place}.function.arguments is not a JSON object; it is shown to the model as it is.")
            return text
        self._warn(f"{place}.function.arguments is not a JSON object; it is shown to the model as one text named `arguments`.")
        return {"arguments": text}

    # the conversation's order

    def _systems(self, chat: list[Chat]) -> list[Chat]:
        systems = [message for message in chat if message["role"] == "system"]
        first_only = not systems or (len(systems) == 1 and chat[0]["role"] == "system")
        if not first_only and not self._can.late_system:
            if any(message["role"] == "system" for message in chat[_leading(chat) :]):
                self._warn("The chat template takes system messages at the start only; later ones were moved there.")
            merged = {"role": "system", "content": self._joined(message["content"] for message in systems)}
            chat = [merged, *(message for message in chat if message["role"] != "system")]
        return chat if self._can.system else self._system_to_user(chat)

    def _system_to_user(self, chat: list[Chat]) -> list[Chat]:
        if not chat or chat[0]["role"] != "system":
            return chat
        self._warn("The chat template has no system role; the system message stands at the head of the first user message.")
        system, rest = chat[0], chat[1:]
        for at, message in enumerate(rest):
            if message["role"] == "user":
                return [
                    *rest[:at],
                    {**message, "content": self._joined((system["content"], message["content"]))},
                    *rest[at + 1 :],
                ]
        return [{**system, "role": "user"}, *rest]

    def _one_call_each(self, chat: list[Chat]) -> list[Chat]:
        parted: list[Chat] = []
        at = 0
        while at < len(chat):
            calls = chat[at].get("tool_calls") or []
            end = _results_end(chat, at + 1)
            if len(calls) < 2:
                parted.append(chat[at])
                at += 1
                continue
            self._warn("The chat template takes one tool call a turn; parallel calls are shown to the model one after the other.")
            parted += self._split_turn(chat[at], chat[at + 1 : end])
            at = end
        return parted

    def _split_turn(self, turn: Chat, results: Sequence[Chat]) -> list[Chat]:
        parted: list[Chat] = []
        for number, call in enumerate(turn["tool_calls"]):
            head = turn if number == 0 else {"role": "assistant", "content": None if turn.get("content") is None else ""}
            parted.append({**head, "tool_calls": [call]})
            parted += [result for result in results if result.get("tool_call_id") == call["id"]]
        ids = {call["id"] for call in turn["tool_calls"]}
        return parted + [result for result in results if result.get("tool_call_id") not in ids]

    def _merge_neighbours(self, chat: list[Chat]) -> list[Chat]:
        merged: list[Chat] = []
        for message in chat:
            last = merged[-1] if merged else None
            if last and _mergeable(last, message):
                self._warn("The chat template wants roles to alternate; neighbouring messages of one role were joined.")
                merged[-1] = {**last, "content": self._joined((last["content"], message["content"]))}
            else:
                merged.append(message)
        return merged

    def _joined(self, contents: Any) -> Any:
        contents = list(contents)
        if self._can.text_lists:
            gap = {"type": "text", "text": "\n\n"}
            return [part for at, content in enumerate(contents) for part in ([gap, *content] if at else content)]
        return "\n\n".join(content for content in contents if content)


def _part_text(place: str, part: Any) -> str:
    if isinstance(part, str):
        return part
    kind = part.get("type")
    text = part.get("refusal") if kind == "refusal" else part.get("text") if kind == "text" else None
    if not isinstance(text, str):
        raise RequestError(f"This model reads text only, not content of type {kind!r}.", param=f"{place}.type")
    return text


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _doubly_encoded(text: str) -> dict[str, Any] | None:
    """The object in a JSON text that is itself the JSON text of one."""
    try:
        inner = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _json_object(inner) if isinstance(inner, str) else None


def _leading(chat: Sequence[Chat]) -> int:
    return next((at for at, message in enumerate(chat) if message["role"] != "system"), len(chat))


def _results_end(chat: Sequence[Chat], at: int) -> int:
    while at < len(chat) and chat[at]["role"] == "tool":
        at += 1
    return at


def _mergeable(one: Chat, other: Chat) -> bool:
    same = one["role"] == other["role"] and one["role"] in ("user", "assistant")
    return same and "tool_calls" not in one and "tool_calls" not in other


def _with_names(chat: list[Chat]) -> list[Chat]:
    """Every tool result with its function's name, which some templates print."""
    names: dict[str, str] = {}
    named: list[Chat] = []
    for message in chat:
        names.update((call["id"], call["function"]["name"]) for call in message.get("tool_calls") or ())
        name = names.get(message.get("tool_call_id", "")) if message["role"] == "tool" else None
        named.append({**message, "name": name} if name and "name" not in message else message)
    return named
