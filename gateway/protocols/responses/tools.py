"""Tools of the wire as what the model may call, and the way back: which of the client's tools a call means.

Functions in a namespace get a name of their own (`crm__get_customer`), because two namespaces may use the same inner name.
A custom tool is shown to the model as a function with one text argument.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gateway.errors import RequestError
from gateway.planning import schemas
from gateway.planning.strict_rules import broken_rule
from gateway.protocols.tool_schema import check_parameters
from gateway.protocols.validation import missing, not_among, validated, wrong_type
from gateway.settings import Limits
from parsers import Tool

from . import schema as wire

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
    "tool_search",
    "web_search",
)
"""Beginnings of the types of tools that run at OpenAI (`web_search_preview_2025_03_11`): there is nothing to run them here."""

INPUT = "input"
CUSTOM_PARAMETERS: Json = {
    "type": "object",
    "properties": {INPUT: {"type": "string", "description": "The tool's whole input."}},
    "required": [INPUT],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Target:
    """What the client calls a tool."""

    name: str
    namespace: str | None = None
    custom: bool = False


@dataclass(slots=True)
class ToolSet:
    """The tools of one request."""

    declared: list[Tool] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    """Where the schema of each declared tool stands in the request."""
    targets: dict[str, Target] = field(default_factory=dict)
    """The name of each declared tool -> what the client calls it."""
    echo: list[Json] = field(default_factory=list)
    """The tools as the answer tells them back."""
    warnings: list[str] = field(default_factory=list)
    implied: list[tuple[str, Json]] = field(default_factory=list)
    """Names of functions that are strict without having asked for it, and how each is told back."""

    def without_implied(self) -> tuple[Tool, ...] | None:
        """The declared tools, strict only where the client said so; None when that makes no difference."""
        if not self.implied:
            return None
        names = {name for name, _ in self.implied}
        for _, echo in self.implied:
            echo["strict"] = False
        return tuple(replace(tool, strict=False) if tool.name in names else tool for tool in self.declared)

    def name_of(self, name: str, namespace: str | None) -> str:
        """The name the model knows a tool of the client by, be it declared or only in the history."""
        wanted = (name, namespace)
        found = (own for own, target in self.targets.items() if (target.name, target.namespace) == wanted)
        return next(found, qualified(name, namespace))


def qualified(name: str, namespace: str | None) -> str:
    """A name for a function in a namespace."""
    return f"{namespace}__{name}" if namespace else name


def is_hosted(kind: str) -> bool:
    """Whether tools of this type run at OpenAI."""
    return kind.startswith(HOSTED)


def decoded_tools(tools: Sequence[Any], limits: Limits) -> ToolSet:
    """What there is to call. RequestError names the first tool that is wrong."""
    found = ToolSet()
    reader = _Reader(found, limits, once=True)
    read = (reader.read(tool, f"tools[{index}]") for index, tool in enumerate(tools))
    found.echo = [tool for tool in read if tool is not None]
    _check_count(found, "tools", limits)
    return found


def add_tools(found: ToolSet, tools: Sequence[Any], place: str, limits: Limits) -> None:
    """Take these tools of the conversation too, as far as they are new."""
    reader = _Reader(found, limits, once=False)
    for index, tool in enumerate(tools):
        reader.read(tool, f"{place}[{index}]")
    _check_count(found, place, limits)


def _check_count(found: ToolSet, place: str, limits: Limits) -> None:
    if len(found.declared) > limits.tools:
        expected = f"Expected an array with maximum length {limits.tools}, but got an array with length {len(found.declared)}"
        message = f"Invalid '{place}': array too long. {expected} instead."
        raise RequestError(message, param=place, code="array_above_max_length")


@dataclass(frozen=True, slots=True)
class _Reader:
    found: ToolSet
    limits: Limits
    once: bool
    """A tool that was declared before is an error; else it is left out."""

    def read(self, tool: Any, place: str, namespace: str | None = None) -> Json | None:
        """The tool as it is told back; None when it is ignored."""
        if not isinstance(tool, Mapping):
            raise wrong_type(place, "an object", tool)
        match tool.get("type", "function"):
            case "function":
                return self._function(tool, place, namespace)
            case "custom":
                return self._custom(tool, place, namespace)
            case "namespace" if namespace is None:
                return self._namespace(tool, place)
            case "mcp" if namespace is None:
                message = (
                    f"Unsupported value: '{place}.type' does not support 'mcp' on this server. Call the MCP server yourself."
                )
                raise RequestError(message, param=f"{place}.type", code="unsupported_value")
            case str() as kind if is_hosted(kind) and namespace is None:
                self.found.warnings.append(f"tools of type {kind} run elsewhere and were ignored")
                return None
            case kind:
                known = ("function", "custom") if namespace else ("function", "custom", "namespace")
                raise not_among(f"{place}.type", str(kind), known)

    def _function(self, tool: Mapping[str, Any], place: str, namespace: str | None) -> Json:
        """Flat, or nested as in Chat."""
        inner = tool.get("function")
        spec, place = (inner, f"{place}.function") if isinstance(inner, Mapping) else (tool, place)
        function = validated(wire.Function, spec, place=place)
        param = f"{place}.parameters"
        check_parameters(function.name, function.parameters, param=param, limits=self.limits)
        strict = function.strict if function.strict is not None else _can_be_strict(function.parameters)
        tool_of = partial(Tool, description=function.description, parameters=function.parameters, strict=strict)
        name = self._declare(Target(function.name, namespace), tool_of, param)
        shown = {key: value for key, value in spec.items() if key not in ("type", "strict")}
        echo = {"type": "function", "description": None, "parameters": {}, **shown, "strict": strict}
        if strict and function.strict is None:
            self.found.implied.append((name, echo))
        return echo

    def _custom(self, tool: Mapping[str, Any], place: str, namespace: str | None) -> Json:
        inner = tool.get("custom")
        spec, place = (inner, f"{place}.custom") if isinstance(inner, Mapping) else (tool, place)
        custom = validated(wire.Custom, spec, place=place)
        description = custom.description
        if custom.format.type == "grammar":
            if custom.format.definition is None:
                raise missing(f"{place}.format.definition")
            description += f"\nThe input must match this {custom.format.syntax} grammar:\n{custom.format.definition}"
            self.found.warnings.append(f"the grammar of '{custom.name}' is shown to the model but not enforced")
        tool_of = partial(Tool, description=description, parameters=CUSTOM_PARAMETERS, strict=True)
        self._declare(Target(custom.name, namespace, custom=True), tool_of, f"{place}.format")
        return {"type": "custom", "format": {"type": "text"}, **{key: value for key, value in spec.items() if key != "type"}}

    def _namespace(self, tool: Mapping[str, Any], place: str) -> Json:
        space = validated(wire.Namespace, tool, place=place)
        inner = [self.read(each, f"{place}.tools[{index}]", space.name) for index, each in enumerate(space.tools)]
        return {**tool, "tools": inner}

    def _declare(self, target: Target, tool_of: Callable[[str], Tool], place: str) -> str:
        """Take this tool, under a name that no other has."""
        taken = {(other.name, other.namespace) for other in self.found.targets.values()}
        if (target.name, target.namespace) in taken:
            if self.once:
                param = f"{place.rpartition('.')[0]}.name"
                raise RequestError(f"Invalid '{param}': a tool named '{target.name}' is declared twice.", param=param)
            return self.found.name_of(target.name, target.namespace)
        name = qualified(target.name, target.namespace)
        while name in self.found.targets:
            name += "_"
        self.found.targets[name] = target
        self.found.declared.append(tool_of(name))
        self.found.places.append(place)
        return name


def _can_be_strict(schema: Mapping[str, Any]) -> bool:
    """Whether a tool that says nothing about it is strict: OpenAI tries, and falls back where the schema breaks the rules."""
    return bool(schema) and broken_rule(schema) is None and schemas.problem_of(schema) is None
