"""What `tool_choice` asks for, in any of the shapes clients send."""

from collections.abc import Mapping
from typing import Any

from gateway.chat.request import ToolChoice
from gateway.errors import RequestError
from gateway.protocols.validation import missing, not_among, wrong_type

from .tool_set import ToolSet
from .tools import is_hosted

ALLOWED = "tool_choice.tools"


def decoded_choice(choice: Any, tools: ToolSet) -> ToolChoice:
    """Which calls the answer may or must contain."""
    if choice is None:
        return _word("auto", tools)
    if isinstance(choice, str):
        return _word(choice, tools)
    if not isinstance(choice, Mapping):
        raise wrong_type("tool_choice", "one of a string or object", choice)
    match choice.get("type"):
        case "function" | "custom":
            _needs_tools(tools)
            return ToolChoice("named", _declared(choice, "tool_choice", tools, blamed="tool_choice"))
        case "tool_search" if tools.search is not None:
            return ToolChoice("named", tools.search)
        case "allowed_tools":
            return _allowed(choice, tools)
        case "auto" | "none" | "required" | "any" as word:
            return _word(word, tools)
        case None:
            raise missing("tool_choice.type")
        case str() as kind if is_hosted(kind) or kind in ("mcp", "tool_search"):
            message = f"Unsupported value: 'tool_choice.type' does not support '{kind}' on this server: it runs no such tool."
            raise RequestError(message, param="tool_choice.type", code="unsupported_value")
        case kind:
            raise not_among("tool_choice.type", str(kind), ("function", "custom", "allowed_tools"))


def _word(word: str, tools: ToolSet) -> ToolChoice:
    match word:
        case "none":
            return ToolChoice("none")
        case "auto":
            return ToolChoice("auto" if tools.declared else "none")
        case "required" | "any":
            _needs_tools(tools)
            return ToolChoice("required")
        case _:
            raise not_among("tool_choice", word, ("none", "auto", "required"))


def _allowed(choice: Mapping[str, Any], tools: ToolSet) -> ToolChoice:
    """Flat, or nested as in Chat. Hosted tools in the list are as absent as they are among the tools."""
    inner = choice.get("allowed_tools")
    spec = inner if isinstance(inner, Mapping) else choice
    _needs_tools(tools)
    mode = spec.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise not_among("tool_choice.mode", str(mode), ("auto", "required"))
    listed = spec.get("tools")
    if not isinstance(listed, list) or not listed:
        raise RequestError(f"Invalid value for '{ALLOWED}': name at least one tool.", param=ALLOWED)
    allowed: dict[str, None] = {}
    for index, tool in enumerate(listed):
        place = f"{ALLOWED}[{index}]"
        if not isinstance(tool, Mapping):
            raise wrong_type(place, "an object", tool)
        if tool.get("type") == "namespace":
            allowed.update(dict.fromkeys(_within(str(tool.get("name")), tools)))
        elif tool.get("type") == "tool_search" and tools.search is not None:
            allowed[tools.search] = None
        elif not is_hosted(str(tool.get("type", "function"))) and tool.get("type") != "tool_search":
            allowed[_declared(tool, place, tools, blamed=ALLOWED)] = None
    if not allowed:
        return ToolChoice("none") if mode == "auto" else _nothing_to_call()
    return ToolChoice("required" if mode == "required" else "auto", allowed=tuple(allowed))


def _within(namespace: str, tools: ToolSet) -> list[str]:
    names = [name for name, target in tools.targets.items() if target.namespace == namespace]
    if not names:
        raise _not_found(namespace, ALLOWED)
    for name in names:
        tools.load(name)
    return names


def _declared(choice: Mapping[str, Any], place: str, tools: ToolSet, *, blamed: str) -> str:
    """The model's name of the tool in `{"name": ...}` or in `{"function": {"name": ...}}`. A function in a namespace is named
    with `namespace` beside, or by its qualified name."""
    inner = choice.get("function")
    spec = inner if isinstance(inner, Mapping) else choice
    name, namespace = spec.get("name"), spec.get("namespace")
    if not isinstance(name, str):
        raise missing(f"{place}.name")
    own = tools.name_of(name, namespace if isinstance(namespace, str) else None)
    if own not in tools.targets:
        raise _not_found(name, blamed)
    tools.load(own)
    return own


def _not_found(name: str, param: str) -> RequestError:
    return RequestError(f"Tool choice '{name}' not found in 'tools' parameter.", param=param)


def _nothing_to_call() -> ToolChoice:
    raise RequestError(f"Invalid value for '{ALLOWED}': none of these tools can be called here.", param=ALLOWED)


def _needs_tools(tools: ToolSet) -> None:
    if not tools.declared:
        message = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        raise RequestError(message, param="tool_choice")
