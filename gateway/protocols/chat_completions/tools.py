"""Tools and tool choices of the wire, old and new, as what the model may call."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.chat.request import ToolChoice
from gateway.errors import RequestError
from gateway.protocols.custom_tools import custom_tool
from gateway.protocols.tool_schema import check_parameters
from gateway.protocols.validation import check_length, missing, not_among, wrong_type
from gateway.settings import Limits
from parsers import Tool

from . import schema as wire

HOSTED = frozenset(
    {
        "apply_patch",
        "code_interpreter",
        "computer",
        "computer_use",
        "computer_use_preview",
        "file_search",
        "image_generation",
        "local_shell",
        "mcp",
        "shell",
        "tool_search",
        "web_search",
        "web_search_preview",
    }
)
"""Tools that run at OpenAI, wherever clients send them: there is nothing to run them here."""


def decoded_tools(tools: Sequence[wire.Tool], limits: Limits) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """The functions, and the types of the tools that are ignored."""
    found: list[Tool] = []
    ignored: list[str] = []
    for index, tool in enumerate(tools):
        place = f"tools[{index}]"
        if tool.type in HOSTED:
            ignored.append(tool.type)
        else:
            found.append(
                _custom(tool, place) if tool.type == "custom" else _function(_inner(tool, place), f"{place}.function", limits)
            )
    _check_set(found, "tools", limits)
    return tuple(found), tuple(ignored)


def places_of(request: wire.ChatCompletionRequest) -> tuple[str, ...]:
    """Where the parameters of each function stand in the request."""
    if request.functions is not None:
        return tuple(f"functions[{index}].parameters" for index in range(len(request.functions)))
    return tuple(
        f"tools[{index}].{'custom.format' if tool.type == 'custom' else 'function.parameters'}"
        for index, tool in enumerate(request.tools)
        if tool.type not in HOSTED
    )


def custom_names(tools: Sequence[wire.Tool]) -> frozenset[str]:
    """The names of the custom tools."""
    return frozenset(tool.custom.name for tool in tools if tool.type == "custom" and tool.custom is not None)


def decoded_functions(functions: Sequence[wire.Function], limits: Limits) -> tuple[Tool, ...]:
    """The functions of the legacy field."""
    found = [_function(function, f"functions[{index}]", limits) for index, function in enumerate(functions)]
    _check_set(found, "functions", limits)
    return tuple(found)


def _inner(tool: wire.Tool, place: str) -> wire.Function:
    if tool.type != "function":
        raise not_among(f"{place}.type", tool.type, ("function", "custom"))
    if tool.function is None:
        raise missing(f"{place}.function")
    return tool.function


def _custom(tool: wire.Tool, place: str) -> Tool:
    if tool.custom is None:
        raise missing(f"{place}.custom")
    custom, grammar = tool.custom, tool.custom.format.grammar
    if custom.format.type == "text":
        return custom_tool(custom.name, custom.description)
    if grammar is None:
        raise missing(f"{place}.custom.format.grammar")
    definition = f"{place}.custom.format.grammar.definition"
    return custom_tool(custom.name, custom.description, (grammar.syntax, grammar.definition), place=definition)


def _function(function: wire.Function, place: str, limits: Limits) -> Tool:
    check_parameters(function.name, function.parameters, param=f"{place}.parameters", limits=limits)
    return Tool(function.name, function.description, function.parameters, function.strict)


def _check_set(tools: Sequence[Tool], field: str, limits: Limits) -> None:
    check_length(field, len(tools), limits.tools)
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        if tool.name in seen:
            param = f"{field}[{index}].function.name" if field == "tools" else f"{field}[{index}].name"
            raise RequestError(f"Invalid '{param}': a function named '{tool.name}' is declared twice.", param=param)
        seen.add(tool.name)


def decoded_choice(choice: Any, tools: Sequence[Tool]) -> ToolChoice:
    """What `tool_choice` asks for, in any of the shapes clients send."""
    names = [tool.name for tool in tools]
    if choice is None:
        return ToolChoice("auto" if names else "none")
    if isinstance(choice, str):
        return _word(choice, names)
    if not isinstance(choice, Mapping):
        raise wrong_type("tool_choice", "one of a string or object", choice)
    match choice.get("type"):
        case "function" | "custom":
            return named(_name(choice, "tool_choice"), names)
        case "allowed_tools":
            return _allowed(choice, names)
        case "auto" | "none" | "required" | "any" as word:
            return _word(word, names)
        case None:
            raise missing("tool_choice.type")
        case other:
            raise not_among("tool_choice.type", str(other), ("function", "custom", "allowed_tools"))


def decoded_function_call(choice: Any, tools: Sequence[Tool]) -> ToolChoice:
    """What the legacy `function_call` asks for."""
    names = [tool.name for tool in tools]
    match choice:
        case None:
            return ToolChoice("auto" if names else "none")
        case "auto" | "none":
            return _word(choice, names)
        case str():
            raise not_among("function_call", choice, ("none", "auto"))
        case {"name": str(name)}:
            return named(name, names, "function_call")
        case Mapping():
            raise missing("function_call.name")
        case _:
            raise wrong_type("function_call", "one of a string or object", choice)


def named(name: str, names: Sequence[str], field: str = "tool_choice") -> ToolChoice:
    """The one function that must be called."""
    _needs_tools(names, field)
    if name not in names:
        raise RequestError(f"Tool choice '{name}' not found in 'tools' parameter.", param=field)
    return ToolChoice("named", name)


def _word(word: str, names: Sequence[str]) -> ToolChoice:
    match word:
        case "none":
            return ToolChoice("none")
        case "auto":
            return ToolChoice("auto" if names else "none")
        case "required" | "any":
            _needs_tools(names, "tool_choice")
            return ToolChoice("required")
        case _:
            raise not_among("tool_choice", word, ("none", "auto", "required"))


def _allowed(choice: Mapping[str, Any], names: Sequence[str]) -> ToolChoice:
    inner = choice.get("allowed_tools")
    spec = inner if isinstance(inner, Mapping) else choice
    field = "tool_choice.allowed_tools.tools"
    _needs_tools(names, "tool_choice")
    mode = spec.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise not_among("tool_choice.allowed_tools.mode", str(mode), ("auto", "required"))
    listed = spec.get("tools")
    if not isinstance(listed, list) or not listed:
        raise RequestError(f"Invalid value for '{field}': name at least one tool.", param=field)
    allowed = tuple(dict.fromkeys(_name(tool, f"{field}[{index}]") for index, tool in enumerate(listed)))
    for name in allowed:
        if name not in names:
            raise RequestError(f"Tool choice '{name}' not found in 'tools' parameter.", param=field)
    return ToolChoice("required" if mode == "required" else "auto", allowed=allowed)


def _name(choice: Any, place: str) -> str:
    """The name in `{"function": {"name": ...}}` (or `custom`) or in the flat `{"name": ...}`."""
    spec = choice if isinstance(choice, Mapping) else {}
    kind = "custom" if spec.get("type") == "custom" else "function"
    inner = spec.get(kind)
    name = (inner if isinstance(inner, Mapping) else spec).get("name")
    if not isinstance(name, str):
        raise missing(f"{place}.{kind}.name")
    return name


def _needs_tools(names: Sequence[str], field: str) -> None:
    if not names:
        message = f"Invalid value for '{field}': '{field}' is only allowed when 'tools' are specified."
        raise RequestError(message, param=field)
