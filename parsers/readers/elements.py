"""Arguments as nested elements: `<key>`, then text or further elements, then `</key>`, each tag behind one token.

An element's value is known once it is closed: its schema tells text from numbers, objects from arrays. Without a schema, repeated
names make a list, elements an object, and text is a string.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..automaton import Position
from ..description import ElementArguments
from ..schema import items_of, member_of, types_of
from .behind import NAME_LIMIT
from .reader import Reader
from .values import quoted, typed

if TYPE_CHECKING:
    from ..parser import Parser

_DEPTH_LIMIT = 128


@dataclass(slots=True)
class _Element:
    name: str
    schema: Any
    text: list[str] = field(default_factory=list)
    children: list[tuple[str, str]] = field(default_factory=list)


@lru_cache(maxsize=64)
def _tag(prefix: str) -> re.Pattern[str]:
    return re.compile(re.escape(prefix) + rf"<(/?)([^<>\s]{{1,{NAME_LIMIT}}})>")


class ElementsReader(Reader):
    """Reads all arguments of one call."""

    __slots__ = ("_count", "_leaf", "_open", "_position")

    def __init__(self, position: Position) -> None:
        assert isinstance(position.leaf, ElementArguments)
        self._position = position
        self._leaf = position.leaf
        self._open: list[_Element] = []
        self._count = 0

    def read(self, parser: "Parser") -> bool:
        prefix = self._leaf.prefix
        start = parser.buffer.find(prefix, parser.at)
        if start < 0:
            self._text(parser, len(parser.buffer) - _overlap(parser.buffer, prefix))
            return False
        if start > parser.at:
            return self._text(parser, start)
        match = _tag(prefix).match(parser.buffer, parser.at)
        if match is not None:
            return self._element(parser, match)
        if len(parser.buffer) - start <= len(prefix) + NAME_LIMIT and ">" not in parser.buffer[start + len(prefix) :]:
            return False
        return self._leave(parser, start)

    def finish(self, parser: "Parser") -> bool:
        for text, target in self._position.markers.items():
            if parser.buffer.startswith(text, parser.at) and not self._open:
                self._end(parser, text, target)
                return True
        parser.skip(len(parser.buffer))
        return False

    def _text(self, parser: "Parser", end: int) -> bool:
        text = parser.buffer[parser.at : end]
        if self._open:
            self._open[-1].text.append(text)
        elif text.strip():
            parser.reject("malformed", "text stands between two arguments")
            return True
        parser.skip(end)
        return True

    def _element(self, parser: "Parser", match: re.Match[str]) -> bool:
        closes, name = match.groups()
        if not self._open and (closes or match.group() in self._position.markers):
            return self._leave(parser, match.start())
        if closes:
            return self._close(parser, match)
        if not parser.in_call():
            return True
        parser.skip(match.end())
        self._open.append(_Element(name, self._schema_of(parser, name)))
        if len(self._open) > _DEPTH_LIMIT:
            parser.reject("malformed", "arguments are nested too deeply")
        return True

    def _schema_of(self, parser: "Parser", name: str) -> Any:
        root = parser.calls.tool.parameters if parser.calls.tool is not None else {}
        outer = self._open[-1].schema if self._open else root
        if self._open and "array" in types_of(outer, root):
            return items_of(outer, root)
        return member_of(outer, root, name) or {}

    def _close(self, parser: "Parser", match: re.Match[str]) -> bool:
        element = self._open[-1]
        if match.group(2) != element.name:
            parser.reject("malformed", f"the element {element.name} is not closed")
            return True
        parser.skip(match.end())
        self._open.pop()
        root = parser.calls.tool.parameters if parser.calls.tool is not None else {}
        value = _value(element, root)
        if self._open:
            self._open[-1].children.append((element.name, value))
            return True
        self._count += 1
        parser.calls.arguments(("{" if self._count == 1 else ", ") + quoted(element.name) + ": " + value)
        return True

    def _leave(self, parser: "Parser", start: int) -> bool:
        """A tag that is no argument: the end of the call, or a fault."""
        for text, target in self._position.markers.items():
            if parser.buffer.startswith(text, start):
                self._end(parser, text, target)
                return True
        parser.reject("malformed", "what stands between two arguments is neither an argument nor the end of the call")
        return True

    def _end(self, parser: "Parser", text: str, target: Position) -> None:
        if not parser.in_call():
            return
        parser.calls.arguments("}" if self._count else "{}")
        parser.skip(parser.at + len(text))
        parser.go(target)


def _overlap(text: str, prefix: str) -> int:
    """How many characters at the end of the text may be the beginning of the prefix."""
    for length in range(min(len(prefix) - 1, len(text)), 0, -1):
        if text.endswith(prefix[:length]):
            return length
    return 0


def _value(element: _Element, root: Mapping[str, Any]) -> str:
    types = types_of(element.schema, root)
    text = "".join(element.text)
    if not element.children:
        return _childless(text, types)
    if "array" in types and not ("object" in types and {name for name, _ in element.children} != {"item"}):
        return "[" + ", ".join(value for _, value in element.children) + "]"
    members: dict[str, list[str]] = {}
    for name, value in element.children:
        members.setdefault(name, []).append(value)
    if set(members) == {"item"} and not types:
        return "[" + ", ".join(members["item"]) + "]"
    if text.strip():
        members["$text"] = [quoted(text)]
    pairs = (
        f"{quoted(name)}: {values[0] if len(values) == 1 else '[' + ', '.join(values) + ']'}" for name, values in members.items()
    )
    return "{" + ", ".join(pairs) + "}"


def _childless(text: str, types: frozenset[str]) -> str:
    if not text.strip() and "string" not in types:
        if "array" in types:
            return "[]"
        if "object" in types:
            return "{}"
    return typed(text, types or frozenset({"string"}))
