"""Description to shape: the strict reading, for the calls that are allowed."""

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from ..description import (
    Bare,
    Call,
    CallId,
    Either,
    ElementArguments,
    Filler,
    Gap,
    JsonArguments,
    JsonCall,
    Many,
    Marker,
    NameKeyedCall,
    Node,
    NumberedName,
    Optional,
    PythonCall,
    QuotedArguments,
    Seq,
    Soft,
    TaggedArguments,
    ToolName,
    Unwritten,
)
from ..errors import ConstraintError
from ..message import Tool
from .element_values import element_arguments
from .python_values import python_call
from .quoted_values import quoted_arguments
from .schemas import arguments_schema
from .shapes import EMPTY, Const, Json, Pattern, Several, Shape, all_of, one_of
from .tagged_values import tagged_arguments
from .tree import first_texts, holds_call

NUMBER = "[0-9]{1,3}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a description we are: the tool of the call we are in, and the markers that may follow."""

    tool: Tool | None = None
    behind: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    """Texts that end a call wherever they stand: the closers of reasoning in which it may have begun."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls that are allowed. `parallel`: more than one in a turn."""

    tools: Sequence[Tool]
    parallel: bool
    _leaves: dict[Hashable, Shape] = field(default_factory=dict)
    """What was written for leaves: a format with many beginnings of a call has the same ones behind each."""

    def shape(self, node: Node, place: Place) -> Shape:
        """What is written for a node."""
        match node:
            case Marker(text) | Gap(text):
                return Const(text)
            case Seq(nodes):
                return self.sequence(nodes, place)
            case Soft(child) | Either((child, *_)):
                return self.shape(child, place)
            case Optional(child):
                return self.shape(child, place) if holds_call(child) else EMPTY
            case Unwritten() | Bare():
                return EMPTY
            case Many(child, separator):
                item = self.shape(child, place)
                return Several(item, separator) if self.parallel else item
            case _:
                return self.part_of_call(node, place)

    def part_of_call(self, node: Node, place: Place) -> Shape:
        """What is written for a node in a call; where the call begins, for each tool."""
        if place.tool is None:
            if not isinstance(node, Call | JsonCall | NameKeyedCall | PythonCall):
                raise ConstraintError(f"a {type(node).__name__} outside of a call cannot be constrained")
            return one_of(*(self.part_of_call(node, replace(place, tool=tool)) for tool in self.tools))
        if isinstance(node, Call):
            return self.shape(node.node, place)
        key = (node, place.tool.name, place.behind, place.breaks)
        if key not in self._leaves:
            self._leaves[key] = _leaf(node, place.tool, place)
        return self._leaves[key]

    def sequence(self, nodes: Sequence[Node], place: Place) -> Shape:
        """The nodes in order."""
        parts = []
        for at, node in enumerate(nodes):
            texts, ends = first_texts(nodes[at + 1 :])
            parts.append(self.shape(node, replace(place, behind=texts if ends else (*texts, *place.behind))))
        return all_of(*parts)


def _leaf(node: Node, tool: Tool, place: Place) -> Shape:
    match node:
        case ToolName(prefix):
            return Const(prefix + tool.name)
        case NumberedName(prefix):
            return all_of(Const(f"{prefix}{tool.name}:"), Pattern(NUMBER))
        case Filler():
            return Pattern(NUMBER)
        case CallId(sample):
            return Pattern(NUMBER if sample.isdigit() else f"[a-zA-Z0-9_-]{{{len(sample)}}}")
        case JsonArguments():
            return Json(arguments_schema(tool))
        case JsonCall() | NameKeyedCall():
            return _json_call(node, tool)
        case _:
            return _arguments(node, tool, place)


def _arguments(node: Node, tool: Tool, place: Place) -> Shape:
    match node:
        case TaggedArguments():
            return tagged_arguments(node, tool, place.behind, place.breaks)
        case ElementArguments():
            return element_arguments(node, tool)
        case QuotedArguments():
            return quoted_arguments(node, tool)
        case PythonCall():
            return python_call(tool)
        case _:
            raise ConstraintError(f"a {type(node).__name__} inside a call cannot be constrained")


def _json_call(node: JsonCall | NameKeyedCall, tool: Tool) -> Shape:
    arguments = Json(arguments_schema(tool))
    if isinstance(node, NameKeyedCall):
        return all_of(Const(f"{{{_quoted(tool.name)}: "), arguments, Const("}"))
    known = all_of(Const(f'"{node.call_id}": "'), Pattern(NUMBER), Const('", ')) if node.call_id else EMPTY
    head = f'"{node.name[0]}": {_quoted(tool.name)}, "{node.arguments[0]}": '
    return all_of(Const("{"), known, Const(head), arguments, Const("}"))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
