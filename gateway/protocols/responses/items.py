"""Input items as a conversation: what each of them must have is checked, and calls and their outputs must belong together."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from gateway.errors import RequestError
from gateway.protocols.custom_input import arguments_of
from gateway.protocols.validation import missing, not_among, wrong_type

from .compaction import SUMMARY, TOLD, summary_in
from .parts import decoded_content, decoded_output, plain_text
from .seal import unsealed
from .search_tool import SEARCH
from .tool_set import ToolSet, qualified

Json = dict[str, Any]
ROLES = ("user", "assistant", "system", "developer")
KNOWN = ("message", "function_call", "function_call_output", "reasoning", "custom_tool_call", "custom_tool_call_output")
HOSTED = (
    "apply_patch_call",
    "code_interpreter_call",
    "computer_call",
    "file_search_call",
    "image_generation_call",
    "local_shell_call",
    "mcp_",
    "program",
    "shell_call",
    "web_search_call",
)
"""Beginnings of the types of items that tools at OpenAI leave behind."""
TOOL_BEARERS = ("additional_tools", "tool_search_output")
"""Items with tools that can be called from then on."""
UNFINISHED = ("in_progress", "incomplete")


class Unmatched(RequestError):
    """A call without output, or an output without call; OpenAI gives no code here."""

    code = None


class Conversation:
    """Reads items one by one; `messages` is what they say, in Chat's shape."""

    def __init__(self, tools: ToolSet) -> None:
        self.messages: list[Json] = []
        self.warnings: list[str] = []
        self._tools = tools
        self._turn: Json | None = None
        """The assistant's message that the next call would belong to."""
        self._calls: dict[str, None] = {}
        self._answered: set[str] = set()
        self.unfinished = False
        """The last item is a message of the assistant's that was cut short."""
        self._searches: list[str] = []
        """Those without output so far."""

    def instruct(self, instructions: str | None) -> None:
        """What the model is told before everything else."""
        if instructions:
            self.messages.append({"role": "system", "content": instructions})

    def read(self, items: Sequence[Mapping[str, Any]], place: str = "input") -> None:
        """Take these items; RequestError names the first that is wrong."""
        for index, item in enumerate(items):
            self._read(item, f"{place}[{index}]")

    def check(self) -> None:
        """RequestError when a call has no output. To be called once everything is read."""
        for message in self.messages:
            if message["role"] == "assistant":
                message.setdefault("content", None if message.get("tool_calls") else "")
        if unanswered := [call_id for call_id in self._calls if call_id not in self._answered]:
            raise Unmatched(f"No tool output found for function call {', '.join(unanswered)}.", param="input")

    def _read(self, item: Mapping[str, Any], place: str) -> None:
        kind = item.get("type") or ("message" if "role" in item else None)
        if kind is None:
            raise missing(f"{place}.type")
        if not isinstance(kind, str):
            raise wrong_type(f"{place}.type", "a string", kind)
        self.unfinished = kind == "message" and item.get("role") == "assistant" and item.get("status") in UNFINISHED
        if read := self._readers.get(kind):
            read(self, item, place)
        elif kind.startswith(HOSTED):
            self.warnings.append(f"items of type {kind} have no meaning here and were left out")
        elif kind not in TOOL_BEARERS:
            raise not_among(f"{place}.type", kind, KNOWN)

    def _message(self, item: Mapping[str, Any], place: str) -> None:
        role = item.get("role")
        if role not in ROLES:
            raise missing(f"{place}.role") if role is None else not_among(f"{place}.role", str(role), ROLES)
        if item.get("content") is None:
            raise missing(f"{place}.content")
        content = decoded_content(item["content"], f"{place}.content")
        if role != "assistant":
            self._turn = None
            self.messages.append({"role": role, "content": content})
            return
        turn = self._open_turn(new="content" in (self._turn or {}))
        turn["content"] = plain_text(content)

    def _reasoning(self, item: Mapping[str, Any], place: str) -> None:
        """Thinking text, wherever the client kept it: as content, sealed by us, or as the summary that stood for it."""
        text = _texts(item, "content", place) or unsealed(item.get("encrypted_content")) or _texts(item, "summary", place)
        if text:
            turn = self._open_turn(new=bool(self._turn))
            turn["reasoning_content"] = text

    def _function_call(self, item: Mapping[str, Any], place: str) -> None:
        self._call(item, _text(item, "arguments", place, default="") or "{}", place)

    def _custom_call(self, item: Mapping[str, Any], place: str) -> None:
        text = _text(item, "input", place, default="")
        self._call(item, arguments_of(text), place)

    def _call(self, item: Mapping[str, Any], arguments: str, place: str) -> None:
        call_id, name = _text(item, "call_id", place), _text(item, "name", place)
        own = self._tools.name_of(name, _text(item, "namespace", place, default="") or None)
        turn = self._open_turn(new=False)
        call = {"id": call_id, "type": "function", "function": {"name": own, "arguments": arguments}}
        turn.setdefault("tool_calls", []).append(call)
        self._calls[call_id] = None

    def _output(self, item: Mapping[str, Any], place: str) -> None:
        call_id = _text(item, "call_id", place)
        if call_id not in self._calls:
            message = f"No tool call found for function call output with call_id {call_id}."
            raise Unmatched(message, param="input")
        self._answered.add(call_id)
        self._turn = None
        content = decoded_output(item.get("output"), f"{place}.output")
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": content})

    def _search(self, item: Mapping[str, Any], place: str) -> None:
        """Searches of the gateway have no call id: the next output without one belongs to them."""
        call_id = _text(item, "call_id", place, default="") or f"search_{len(self.messages)}"
        arguments = json.dumps(item.get("arguments") or {}, ensure_ascii=False)
        call = {"id": call_id, "type": "function", "function": {"name": self._tools.search or SEARCH, "arguments": arguments}}
        self._open_turn(new=False).setdefault("tool_calls", []).append(call)
        self._searches.append(call_id)

    def _found(self, item: Mapping[str, Any], place: str) -> None:
        """Its tools are loaded elsewhere; the model is told their names."""
        call_id = _text(item, "call_id", place, default="") or (self._searches[-1] if self._searches else "")
        if call_id in self._searches:
            self._searches.remove(call_id)
            self._turn = None
            self.messages.append({"role": "tool", "tool_call_id": call_id, "content": found_text(item.get("tools") or [])})

    def _summary(self, item: Mapping[str, Any], place: str) -> None:
        """The model reads what it wrote of the conversation before this point."""
        text = summary_in(item)
        if not text:
            self.warnings.append("items of type compaction that were not made here cannot be read and were left out")
            return
        self._turn = None
        self.messages.append({"role": "user", "content": f"{TOLD}{text}"})

    def _open_turn(self, *, new: bool) -> Json:
        """The assistant's message that is being read."""
        if self._turn is None or new:
            self._turn = {"role": "assistant"}
            self.messages.append(self._turn)
        return self._turn

    _readers: ClassVar[Mapping[str, Callable[["Conversation", Mapping[str, Any], str], None]]] = {
        "message": _message,
        "reasoning": _reasoning,
        "function_call": _function_call,
        "function_call_output": _output,
        "custom_tool_call": _custom_call,
        "custom_tool_call_output": _output,
        "tool_search_call": _search,
        "tool_search_output": _found,
        SUMMARY: _summary,
    }


def found_text(tools: Sequence[Mapping[str, Any]]) -> str:
    """What the model reads as the result of a search. The tools themselves are declared where all tools are."""
    lines = []
    for tool in tools:
        inner, space = (tool.get("tools") or [], tool.get("name")) if tool.get("type") == "namespace" else ([tool], None)
        lines += [f"- {qualified(str(each.get('name')), space)}: {each.get('description') or ''}".rstrip(": ") for each in inner]
    return "\n".join(["These tools can be called now:", *lines]) if lines else "No tool was found."


def _texts(item: Mapping[str, Any], field: str, place: str) -> str:
    """The joined texts of a reasoning item's parts."""
    parts = item.get(field) or []
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list):
        raise wrong_type(f"{place}.{field}", "an array", parts)
    return "\n\n".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))


def _text(item: Mapping[str, Any], field: str, place: str, *, default: str | None = None) -> str:
    """A string that must be there, unless there is a default. Some clients send arguments as the object they stand for."""
    value = item.get(field, default)
    if value is None:
        value = default
    if value is None:
        raise missing(f"{place}.{field}")
    if field == "arguments" and isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        raise wrong_type(f"{place}.{field}", "a string", value)
    return value
