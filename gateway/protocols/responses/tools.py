"""Tools of the wire as what the model may call. A custom tool is shown to the model as a function with one text argument."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from gateway.chat.json_text import canonical
from gateway.errors import RequestError
from gateway.planning import schemas
from gateway.planning.strict_rules import broken_rule
from gateway.protocols.custom_tools import custom_tool
from gateway.protocols.tool_schema import check_parameters
from gateway.protocols.validation import check_length, missing, not_among, validated, wrong_type
from gateway.settings import Limits
from parsers import Tool

from . import schema as wire
from .search_tool import SEARCH, add_search
from .tool_set import Deferred, Placed, Target, ToolSet

Json = dict[str, Any]

HOSTED = (
    "apply_patch",
    "code_interpreter",
    "computer",
    "file_search",
    "image_generation",
    "local_shell",
    "programmatic_tool_calling",
    "shell",
    "web_search",
)
"""Beginnings of the types of tools that run at OpenAI (`web_search_preview_2025_03_11`): there is nothing to run them here."""


def is_hosted(kind: str) -> bool:
    """Whether tools of this type run at OpenAI."""
    return kind.startswith(HOSTED)


def decoded_tools(tools: Sequence[Any], limits: Limits) -> ToolSet:
    """What there is to call. RequestError names the first tool that is wrong."""
    found = ToolSet()
    places = [place for place, tool in enumerate(tools) if isinstance(tool, Mapping) and tool.get("type") == SEARCH]
    if len(places) > 1:
        raise RequestError("Invalid value for 'tools': there may be only one tool of type 'tool_search'.", param="tools")
    reader = _Reader(found, limits, once=True, deferring=bool(places))
    read = (reader.read(tool, f"tools[{index}]") for index, tool in enumerate(tools))
    found.echo = [tool for tool in read if tool is not None]
    if places:
        search = validated(wire.ToolSearch, tools[places[0]], place=f"tools[{places[0]}]")
        add_search(found, search, f"tools[{places[0]}].parameters")
    check_length("tools", len(found.targets), limits.tools)
    return found


def add_tools(found: ToolSet, tools: Sequence[Any], place: str, limits: Limits) -> None:
    """Take these tools of the conversation too, as far as they are new, and load those that are deferred."""
    reader = _Reader(found, limits, once=False, deferring=False)
    for index, tool in enumerate(tools):
        reader.read(tool, f"{place}[{index}]")
    check_length(place, len(found.targets), limits.tools)


@dataclass(frozen=True, slots=True)
class _Reader:
    found: ToolSet
    limits: Limits
    once: bool
    """A tool that was declared before is an error; else it is left out, or loaded if it was deferred."""
    deferring: bool
    """There is a search, so that tools may wait for it."""

    def read(self, tool: Any, place: str, space: Json | None = None) -> Json | None:
        """The tool as it is told back; None when it is ignored. `space`: the namespace that it stands in."""
        if not isinstance(tool, Mapping):
            raise wrong_type(place, "an object", tool)
        match tool.get("type", "function"):
            case "function":
                return self._function(tool, place, space)
            case "custom":
                return self._custom(tool, place, space)
            case kind if space is not None:
                raise not_among(f"{place}.type", str(kind), ("function", "custom"))
            case "namespace":
                return self._namespace(tool, place)
            case "tool_search":
                return dict(tool)
            case "mcp":
                message = f"Unsupported value: '{place}.type' does not support 'mcp' on this server."
                raise RequestError(f"{message} Call the MCP server yourself.", param=f"{place}.type", code="unsupported_value")
            case str() as kind if is_hosted(kind):
                self.found.warnings.append(f"tools of type {kind} run elsewhere and were ignored")
                return None
            case kind:
                raise not_among(f"{place}.type", str(kind), ("function", "custom", "namespace", SEARCH))

    def _function(self, tool: Mapping[str, Any], place: str, space: Json | None) -> Json:
        """Flat, or nested as in Chat."""
        inner = tool.get("function")
        spec, place = (inner, f"{place}.function") if isinstance(inner, Mapping) else (tool, place)
        function = validated(wire.Function, spec, place=place)
        param = f"{place}.parameters"
        check_parameters(function.name, function.parameters, param=param, limits=self.limits)
        strict = function.strict if function.strict is not None else _can_be_strict(function.parameters)
        shown = {key: value for key, value in spec.items() if key not in ("type", "strict")}
        echo = {"type": "function", "description": None, "parameters": {}, **shown, "strict": strict}
        tool_of = partial(Tool, description=function.description, parameters=function.parameters, strict=strict)
        target = Target(function.name, _name_of(space))
        declaration = _Declaration(target, tool_of, param, echo, space)
        name = self._declare(declaration, deferred=function.defer_loading)
        if strict and function.strict is None:
            self.found.implied.append((name, echo))
        return echo

    def _custom(self, tool: Mapping[str, Any], place: str, space: Json | None) -> Json:
        inner = tool.get("custom")
        spec, place = (inner, f"{place}.custom") if isinstance(inner, Mapping) else (tool, place)
        custom = validated(wire.Custom, spec, place=place)
        grammar = None
        if custom.format.type == "grammar":
            if custom.format.definition is None:
                raise missing(f"{place}.format.definition")
            grammar = (custom.format.syntax or "lark", custom.format.definition)
        echo = {"type": "custom", "format": {"type": "text"}, **{key: value for key, value in spec.items() if key != "type"}}
        definition = f"{place}.format.definition"
        tool_of = partial(custom_tool, description=custom.description, grammar=grammar, place=definition)
        target = Target(custom.name, _name_of(space), "custom")
        self._declare(_Declaration(target, tool_of, f"{place}.format", echo, space), deferred=custom.defer_loading)
        return echo

    def _namespace(self, tool: Mapping[str, Any], place: str) -> Json:
        parsed = validated(wire.Namespace, tool, place=place)
        space = {**tool, "tools": []}
        inner = [self.read(each, f"{place}.tools[{index}]", space) for index, each in enumerate(parsed.tools)]
        return {**space, "tools": inner}

    def _declare(self, declaration: "_Declaration", *, deferred: bool) -> str:
        """Take this tool, now or once it is found."""
        target = declaration.target
        name = self.found.add_target(target)
        if name is None:
            if self.once:
                param = f"{declaration.place.rpartition('.')[0]}.name"
                raise RequestError(f"Invalid '{param}': a tool named '{target.name}' is declared twice.", param=param)
            name = self.found.name_of(target.name, target.namespace)
            self.found.load(name)
            return name
        placed = Placed(declaration.tool_of(name), declaration.place)
        if deferred and self.deferring:
            self.found.deferred[name] = Deferred(placed, declaration.echo, declaration.space)
        else:
            self.found.declared.append(placed)
        return name


@dataclass(frozen=True, slots=True)
class _Declaration:
    """A tool before it has a name of its own."""

    target: Target
    tool_of: Callable[[str], Tool]
    place: str
    echo: Json
    space: Json | None


def _name_of(space: Json | None) -> str | None:
    return None if space is None else str(space["name"])


def _can_be_strict(schema: Mapping[str, Any]) -> bool:
    """Whether a tool that says nothing about it is strict: OpenAI tries, and falls back where the schema breaks the rules."""
    return bool(schema) and _keeps_the_rules(canonical(schema))


@lru_cache(maxsize=1024)
def _keeps_the_rules(text: str) -> bool:
    """Agents send the same tools with each request."""
    schema = json.loads(text)
    return broken_rule(schema) is None and schemas.problem_of(schema) is None
