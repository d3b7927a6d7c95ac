"""Description to shape: the strict reading for the calls that are allowed, and the texts that begin a call in free text."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..description import (
    Bare,
    Call,
    CallId,
    Either,
    Gap,
    Interleaved,
    JsonArguments,
    JsonCall,
    Many,
    Marker,
    NameKeyedCall,
    Node,
    Optional,
    PythonCall,
    Seq,
    Soft,
    TaggedArguments,
    ToolName,
    Unwritten,
)
from ..errors import ConstraintError
from ..message import Tool
from .python_values import python_call
from .shapes import EMPTY, Const, Json, Maybe, Pattern, Several, Shape, all_of, one_of
from .tagged_values import tagged_arguments
from .tool_schema import arguments_schema


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls that are allowed. `parallel`: more than one in a turn."""

    tools: Sequence[Tool]
    parallel: bool

    # ---- strict reading
    def shape(self, node: Node, tool: Tool | None = None) -> Shape:
        """What is written for `node`; inside a call, `tool` is the one it calls."""
        match node:
            case Marker(text) | Gap(text):
                return Const(text)
            case Seq(nodes):
                return self.sequence(nodes, tool)
            case Soft(child):
                return self.shape(child, tool)
            case Optional(child):
                return self.shape(child, tool) if holds_call(child) else EMPTY
            case Unwritten() | Bare():
                return EMPTY
            case Either(nodes):
                return self.shape(nodes[0], tool)
            case Many(child, separator):
                return self.several(child, separator)
            case Call(child) if tool is not None:
                return self.shape(child, tool)
            case Call() | JsonCall() | NameKeyedCall() | PythonCall() if tool is None:
                return one_of(*(self.shape(node, each) for each in self.tools))
            case _ if tool is not None:
                return self.leaf(node, tool)
            case _:
                raise ConstraintError(f"a {type(node).__name__} outside of a call cannot be constrained")

    def sequence(self, nodes: Sequence[Node], tool: Tool | None) -> Shape:
        """The nodes in order. Tagged arguments need to know what follows them: a value may not contain it."""
        parts: list[Shape] = []
        for place, node in enumerate(nodes):
            tagged = written(node)
            if isinstance(tagged, TaggedArguments) and tool is not None:
                parts.append(tagged_arguments(tagged, tool, behind=first_texts(nodes[place + 1 :])))
            else:
                parts.append(self.shape(node, tool))
        return all_of(*parts)

    def several(self, child: Node, separator: str) -> Shape:
        """The calls of one block."""
        item = self.shape(child)
        return Several(item, separator) if self.parallel else item

    def leaf(self, node: Node, tool: Tool) -> Shape:
        match node:
            case ToolName(prefix):
                return Const(prefix + tool.name)
            case CallId(sample):
                return Pattern("[0-9]{1,6}" if sample.isdigit() else f"[a-zA-Z0-9_-]{{{len(sample)}}}")
            case JsonArguments():
                return Json(arguments_schema(tool))
            case JsonCall(name, arguments):
                head = f'{{"{name[0]}": {json.dumps(tool.name, ensure_ascii=False)}, "{arguments[0]}": '
                return all_of(Const(head), Json(arguments_schema(tool)), Const("}"))
            case NameKeyedCall():
                return all_of(Const(f"{{{json.dumps(tool.name, ensure_ascii=False)}: "), Json(arguments_schema(tool)), Const("}"))
            case TaggedArguments():
                return tagged_arguments(node, tool, behind=())
            case PythonCall():
                return python_call(tool)
            case _:
                raise ConstraintError(f"a {type(node).__name__} inside a call cannot be constrained")

    # ---- how a call may begin in free text
    def starts(self, block: Node) -> list[tuple[str, Shape]]:
        """The texts with which the parser begins a call, and how each must go on."""
        found: dict[str, Shape] = {}
        for nodes in beginnings(block):
            for text, rest in self._start(nodes):
                found.setdefault(text, rest)
        return [(text, rest) for text, rest in found.items() if not any(other != text and other in text for other in found)]

    def _start(self, nodes: tuple[Node, ...]) -> list[tuple[str, Shape]]:
        head = nodes[0]
        if isinstance(head, Marker) and any(character.isalnum() for character in head.text):
            trail = head.text[len(head.text.rstrip()) :]
            rest = all_of(Const(trail), self.sequence(nodes[1:], None))
            return [(text, rest) for text in head.texts()]
        return [self._with_name(nodes, tool) for tool in self.tools]

    def _with_name(self, nodes: tuple[Node, ...], tool: Tool) -> tuple[str, Shape]:
        """A beginning that occurs in any text, such as a brace: only together with a tool's name it is one."""
        whole = all_of(*(Calls((tool,), parallel=False).shape(node) if place == 0 else self._tail(node) for place, node in enumerate(nodes)))
        raise NotImplementedError
