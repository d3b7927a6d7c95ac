"""A call in Python's syntax: `name(key=literal, ...)`. Literals are read by the JSON reader in its Python mode."""

import re
from typing import TYPE_CHECKING

from ..automaton import Position
from .behind import within
from .json_value import JsonValue, State
from .python_string import KEYWORD, OPEN_KEYWORD, StringEnd
from .reader import Reader
from .values import quoted

if TYPE_CHECKING:
    from ..parser import Parser

_NAME = re.compile(r"([^\W\d][\w.\-]*)[ \t\r\n]*\(")
_OPEN_NAME = re.compile(r"[^\W\d][\w.\-]*[ \t\r\n]*\Z")


class PythonCallReader(Reader):
    """Reads one call."""

    __slots__ = ("_behind_value", "_count", "_key", "_named", "_position", "_string", "_value")

    def __init__(self, position: Position) -> None:
        self._position = position
        self._named = False
        self._key = ""
        self._count = 0
        self._value: JsonValue | None = None
        self._behind_value = False
        self._string: StringEnd | None = None

    def read(self, parser: "Parser") -> bool:
        if not self._named:
            return self._name(parser)
        if self._value is not None:
            return self._read_value(parser)
        if not parser.skip_space():
            return False
        return self._structure(parser, parser.buffer[parser.at])

    def finish(self, parser: "Parser") -> bool:
        if self._value is not None:
            parser.calls.arguments(self._value.take())
        parser.skip(len(parser.buffer))
        return False

    def _name(self, parser: "Parser") -> bool:
        match, waits = within(_NAME, _OPEN_NAME, parser)
        if match is None:
            if waits:
                return False
            parser.reject("literal_marker", "what stands there is not a Python call")
            return True
        parser.hold()
        parser.calls.name = match.group(1)
        self._named = True
        parser.skip(match.end())
        return True

    def _structure(self, parser: "Parser", character: str) -> bool:
        if character == ")":
            if not parser.in_call():
                return True
            parser.skip(parser.at + 1)
            parser.calls.arguments("}" if self._count else "{}")
            parser.go(self._position)
        elif character == "," and self._behind_value:
            self._behind_value = False
            parser.skip(parser.at + 1)
        elif self._behind_value:
            parser.reject("malformed", "the arguments of a call are broken")
        else:
            return self._keyword(parser)
        return True

    def _keyword(self, parser: "Parser") -> bool:
        match, waits = within(KEYWORD, OPEN_KEYWORD, parser)
        if match is None:
            if waits:
                return False
            parser.reject("malformed", "an argument without a name cannot be read")
            return True
        if not parser.in_call():
            return True
        self._key = match.group(2)
        parser.skip(match.end())
        self._value = JsonValue(python=True)
        self._string = None
        self._count += 1
        parser.calls.arguments(("{" if self._count == 1 else ", ") + quoted(self._key) + ": ")
        return True

    def _read_value(self, parser: "Parser") -> bool:
        value = self._value
        assert value is not None
        if text := value.plain(parser.buffer, parser.at):
            parser.skip(len(parser.buffer))
            parser.calls.arguments(value.take() + text)
            return False
        if value.state is State.VALUE and not value.stack and not (parser.skip_space() and self._begins(parser)):
            return False
        parser.skip(value.feed(parser.buffer, parser.at))
        if value.state is State.DONE and self._string is not None:
            verdict = self._string.judge(parser, value)
            if verdict == "waits":
                return False
            if verdict == "goes on":
                return True
            if verdict == "broken":
                value.state = State.BAD
        parser.calls.arguments(value.take())
        if value.state is State.BAD:
            parser.reject("malformed", f"the value of {self._key} is not a literal")
            return True
        return value.state is State.DONE and self._end_value(parser)

    def _begins(self, parser: "Parser") -> bool:
        """Whether enough has arrived to tell how the value begins; three quotes begin a string of its own kind."""
        begun = parser.buffer[parser.at : parser.at + 3]
        if begun[0] not in "\"'":
            return True
        if len(begun) < 3 and begun == begun[0] * len(begun) and not parser.reason:
            return False
        triple = begun == begun[0] * 3
        self._string = StringEnd(self._position, begun[0], triple=triple)
        parser.skip(parser.at + (2 if triple else 0))
        return True

    def _end_value(self, parser: "Parser") -> bool:
        if self._string is not None and self._string.guessed:
            parser.notice("repaired", "quotes inside a string")
        self._value = None
        self._behind_value = True
        return True
