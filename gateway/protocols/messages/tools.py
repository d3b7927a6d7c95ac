"""Tools and tool choices of the wire as what the model may call."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.chat.request import ToolChoice
from gateway.errors import RequestError
from gateway.protocols.tool_schema import check_parameters
from gateway.settings import Limits
from parsers import Tool

from . import schema as wire
from .validation import missing, wrong


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools that the client runs, the place of each one's schema in the request, and the types of the others."""

    declared: tuple[Tool, ...]
    places: tuple[str, ...]
    hosted: tuple[str, ...]


def decoded_tools(tools: Sequence[wire.Tool], limits: Limits) -> Tools:
    """What there is to call."""
    own = [(index, tool) for index, tool in enumerate(tools) if tool.type == "custom"]
    if len(own) > limits.tools:
        raise wrong("tools", f"Array should have at most {limits.tools} items, not {len(own)}")
    declared = tuple(_tool(tool, f"tools.{index}", limits) for index, tool in own)
    names = [tool.name for tool in declared]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise wrong("tools", f"Tool names must be unique. '{twice}' is declared twice.")
    places = tuple(f"tools.{index}.input_schema" for index, _ in own)
    return Tools(declared, places, tuple(dict.fromkeys(tool.type for tool in tools if tool.type != "custom")))


def _tool(tool: wire.Tool, place: str, limits: Limits) -> Tool:
    if tool.name is None:
        raise missing(f"{place}.name")
    if tool.input_schema is None:
        raise missing(f"{place}.input_schema")
    check_parameters(tool.name, tool.input_schema, param=f"{place}.input_schema", limits=limits)
    return Tool(tool.name, tool.description, tool.input_schema, tool.strict)


def decoded_choice(choice: wire.ToolChoice | None, tools: Sequence[Tool]) -> ToolChoice:
    """What `tool_choice` asks for."""
    if choice is None or choice.type == "auto":
        return ToolChoice("auto" if tools else "none")
    if choice.type == "none":
        return ToolChoice("none")
    if not tools:
        raise RequestError("tool_choice: may only be specified while providing tools", param="tool_choice")
    if choice.type == "any":
        return ToolChoice("required")
    if choice.name is None:
        raise missing("tool_choice.name")
    if all(tool.name != choice.name for tool in tools):
        raise wrong("tool_choice.name", f"Tool '{choice.name}' not found in provided tools")
    return ToolChoice("named", choice.name)
