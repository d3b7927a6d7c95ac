"""Calls written in JSON. A call opens once its name is whole and its arguments have begun as an object does."""

import json
import re
from typing import TYPE_CHECKING, Literal

from ..automaton import Position
from ..description import JsonCall
from .boundary import boundary, space_end, whole
from .frame import NAME_LIMIT, texts_behind
from .json_value import JsonValue, State

if TYPE_CHECKING:
    from ..parser import Parser

_KEY = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')[ \t\r\n]*:""", re.DOTALL)
_OPEN_KEY = re.compile(r"""(?:"(?:[^"\\]|\\.)*(?:"[ \t\r\n]*|\\)?|'(?:[^'\\]|\\.)*(?:'[ \t\r\n]*|\\)?)\Z""", re.DOTALL)
_ENVELOPE = frozenset({"type", "id", "function", "index", "call_id", "tool_call_id"})
_ARGUMENTS_BEGIN = frozenset("{\"'nN")
"""An object, a string that holds one, or `null`."""
Outcome = Literal["more", "done", "bad"]


class Arguments:
    """The arguments of one call: an object that streams, or one that hides in a string, or nothing (`null`)."""

    __slots__ = ("_first", "_value", "begun", "text")

    def __init__(self) -> None:
        self._value = JsonValue()
        self._first = ""
        self.begun = False
        """It is certain that this is an object and not prose in braces."""
        self.text: list[str] = []
        """The JSON text that may be given out."""

    @property
    def repairs(self) -> set[str]:
        """What was put right in the arguments."""
        return self._value.repairs

    def read(self, parser: "Parser") -> Outcome:
        """Consume what has arrived."""
        if not self._first:
            if not parser.skip_space():
                return "more"
            self._first = parser.buffer[parser.at]
            if self._first not in _ARGUMENTS_BEGIN:
                return "bad"
        value = self._value
        parser.skip(value.feed(parser.buffer, parser.at))
        if self._first == "{":
            return self._stream(value)
        if value.state is State.DONE:
            return self._unpack(value.take())
        return "bad" if value.state is State.BAD else "more"

    def _stream(self, value: JsonValue) -> Outcome:
        if value.begun:
            self.begun = True
            self.text.append(value.take())
        if value.state is State.BAD:
            return "bad"
        return "done" if value.state is State.DONE else "more"

    def _unpack(self, written: str) -> Outcome:
        """A scalar: `null` and `""` mean no arguments, a string may hold the object."""
        scalar = json.loads(written)
        if not scalar or (isinstance(scalar, str) and not scalar.strip()):
            self.text.append("{}")
        elif isinstance(scalar, str) and (inner := _object_text(scalar)) is not None:
            self.text.append(inner)
            self.repairs.add("arguments as a string")
        else:
            return "bad"
        self.begun = True
        return "done"


def _object_text(text: str) -> str | None:
    """The JSON object that is the whole of a text; None when it is something else."""
    value = JsonValue()
    end = value.feed(text, 0)
    if value.state is not State.DONE or text[end:].strip():
        return None
    written = value.take().strip()
    return written if written.startswith("{") else None


class ArgumentsReader:
    """Arguments alone, behind a name that was read before."""

    __slots__ = ("_arguments", "_position")

    def __init__(self, position: Position) -> None:
        self._position = position
        self._arguments = Arguments()

    def read(self, parser: "Parser") -> bool:
        outcome = self._arguments.read(parser)
        if self._arguments.begun and not parser.call_open and not parser.open_call(parser.name or "", parser.call_id):
            return True
        give_out(parser, self._arguments)
        if outcome == "more":
            return False
        note_repairs(parser, self._arguments.repairs)
        if outcome == "bad":
            parser.reject("malformed", "the arguments of a call are not a JSON object")
        else:
            parser.go(self._position)
        return True

    def finish(self, parser: "Parser") -> bool:
        return False


def give_out(parser: "Parser", arguments: Arguments) -> None:
    """Emit what the arguments have ready, if their call is open."""
    if parser.call_open and arguments.text:
        parser.arguments("".join(arguments.text))
        arguments.text.clear()


def note_repairs(parser: "Parser", repairs: set[str]) -> None:
    """One notice per kind of repair."""
    for repair in sorted(repairs):
        parser.notice("repaired", repair)


class JsonCallReader:
    """A whole call as one object: name, arguments, perhaps an id, in any order."""

    __slots__ = ("_arguments", "_behind_value", "_depth", "_keys", "_leaf", "_name", "_opened", "_position", "_repairs", "_role", "_value")

    def __init__(self, position: Position) -> None:
        assert isinstance(position.leaf, JsonCall)
        self._position = position
        self._leaf = position.leaf
        self._depth = 0
        self._keys = 0
        self._opened = False
        self._name: str | None = None
        self._arguments: Arguments | None = None
        self._value: JsonValue | None = None
        self._role = ""
        self._behind_value = False
        self._repairs: set[str] = set()

    def read(self, parser: "Parser") -> bool:
        if self._role == "arguments":
            return self._read_arguments(parser)
        if self._role:
            return self._read_value(parser)
        if not parser.skip_space():
            return False
        return self._structure(parser, parser.buffer[parser.at])

    def finish(self, parser: "Parser") -> bool:
        if self._complete() and not self._role and parser.at == len(parser.buffer) and parser.call_open and self._depth == 0:
            self._missing_brace(parser)
            return True
        if self._role == "" and self._complete() and parser.at < len(parser.buffer):
            return self._try_missing_brace(parser, at_end=True)
        parser.skip(len(parser.buffer))
        return False

    # ---- structure
    def _structure(self, parser: "Parser", character: str) -> bool:
        if character == "{" and not self._opened:
            parser.hold()
            self._opened = True
            parser.skip(parser.at + 1)
        elif character in "\"'" and self._opened and not self._behind_value:
            return self._key(parser)
        elif character == "," and self._behind_value:
            self._behind_value = False
            parser.skip(parser.at + 1)
        elif character == "}" and self._opened:
            parser.skip(parser.at + 1)
            self._behind_value = True
            if not self._depth:
                return self._done(parser)
            self._depth -= 1
        else:
            return self._try_missing_brace(parser, at_end=False)
        return True

    def _key(self, parser: "Parser") -> bool:
        match = _KEY.match(parser.buffer, parser.at)
        if match is None:
            cut = _OPEN_KEY.match(parser.buffer, parser.at)
            if cut is None or len(parser.buffer) - parser.at > NAME_LIMIT:
                parser.reject("malformed", "a call's JSON is broken")
                return True
            return False
        key = match.group(1) if match.group(1) is not None else match.group(2)
        role = self._role_of(key)
        if role == "function":
            return self._envelope(parser, match.end())
        if role is None or match.end() - parser.at > NAME_LIMIT:
            parser.reject("literal_marker", f"a JSON object with the key {key[:40]!r} is not a call")
            return True
        parser.skip(match.end())
        self._begin_value(role)
        return True

    def _role_of(self, key: str) -> str | None:
        leaf = self._leaf
        if key in leaf.name and self._name is None:
            return "name"
        if key in leaf.arguments and self._arguments is None:
            if key != leaf.arguments[0]:
                self._repairs.add(f"{key} for {leaf.arguments[0]}")
            return "arguments"
        if key == "function" and self._name is None:
            return "function"
        if key in ("id", "call_id", "tool_call_id"):
            return "id"
        if leaf.needs_arguments and key not in _ENVELOPE:
            return None
        return "other"

    def _envelope(self, parser: "Parser", end: int) -> bool:
        """`"function":` holds the name, or an object with name and arguments."""
        behind = space_end(parser.buffer, end)
        if behind == len(parser.buffer):
            return False
        if parser.buffer[behind] == "{":
            self._depth += 1
            self._behind_value = False
            parser.skip(behind + 1)
        else:
            parser.skip(behind)
            self._begin_value("name")
        return True

    # ---- values
    def _begin_value(self, role: str) -> None:
        self._role = role
        self._keys += 1
        if role == "arguments":
            self._arguments = Arguments()
        else:
            self._value = JsonValue()

    def _read_arguments(self, parser: "Parser") -> bool:
        assert self._arguments is not None
        outcome = self._arguments.read(parser)
        if not self._try_open(parser):
            return True
        if outcome == "more":
            return False
        self._repairs |= self._arguments.repairs
        self._role = ""
        self._behind_value = True
        if outcome == "bad":
            note_repairs(parser, self._repairs if parser.call_open else set())
            parser.reject("malformed", "the arguments of a call are not a JSON object")
        return True

    def _read_value(self, parser: "Parser") -> bool:
        value = self._value
        assert value is not None
        parser.skip(value.feed(parser.buffer, parser.at))
        if value.state is State.BAD or (self._role != "other" and sum(map(len, value.out)) > NAME_LIMIT):
            parser.reject("malformed", "a call's JSON is broken")
            return True
        if value.state is not State.DONE:
            return False
        role, self._role, self._value = self._role, "", None
        self._behind_value = True
        if role == "other":
            return True
        return self._named(parser, role, json.loads(value.take()))

    def _named(self, parser: "Parser", role: str, value: object) -> bool:
        if role == "id":
            parser.call_id = str(value) if isinstance(value, str | int) else None
            return True
        if not isinstance(value, str) or not value.strip():
            parser.reject("malformed", "a call's name is not a string")
            return True
        self._name = value
        self._try_open(parser)
        return True

    def _try_open(self, parser: "Parser") -> bool:
        """Open the call if it is certain, and give out its arguments; False: it was a draft that is text now."""
        arguments = self._arguments
        if arguments is None or not arguments.begun or self._name is None:
            return True
        if not parser.call_open and not parser.open_call(self._name, parser.call_id):
            return False
        give_out(parser, arguments)
        return True

    # ---- the end
    def _complete(self) -> bool:
        return self._name is not None and self._arguments is not None and self._role == "" and self._behind_value

    def _done(self, parser: "Parser") -> bool:
        if self._name is None or (self._arguments is None and self._leaf.needs_arguments):
            parser.reject("literal_marker", "a JSON object without name and arguments is not a call")
            return True
        if not parser.call_open and not parser.open_call(self._name, parser.call_id):
            return True
        note_repairs(parser, self._repairs)
        parser.go(self._position)
        return True

    def _try_missing_brace(self, parser: "Parser", *, at_end: bool) -> bool:
        """A closing marker where the last brace should be: the call was whole all the same."""
        texts = texts_behind(self._position)
        if self._complete() and texts:
            match = (whole if at_end else boundary)(texts).match(parser.buffer, parser.at)
            if match is not None and match.group(1) is None:
                return False
            if match is not None:
                self._missing_brace(parser)
                return True
        parser.reject("malformed", "a call's JSON is broken")
        return True

    def _missing_brace(self, parser: "Parser") -> None:
        self._repairs.add("a missing brace")
        note_repairs(parser, self._repairs)
        parser.go(self._position)


class NameKeyedReader:
    """A call as an object whose only key is the tool's name."""

    __slots__ = ("_arguments", "_named", "_position")

    def __init__(self, position: Position) -> None:
        self._position = position
        self._named = False
        self._arguments: Arguments | None = None

    def read(self, parser: "Parser") -> bool:
        if self._arguments is None:
            return self._name(parser)
        outcome = self._arguments.read(parser)
        if outcome != "bad" and not self._named:
            if self._arguments.begun:
                self._named = True
                if not parser.open_call(parser.name or "", parser.call_id):
                    return True
        give_out(parser, self._arguments)
        if outcome == "more":
            return False
        note_repairs(parser, self._arguments.repairs)
        if outcome == "bad":
            parser.reject("malformed", "the arguments of a call are not a JSON object")
            return True
        parser.reader = _ClosingBrace(self._position)
        return True

    def finish(self, parser: "Parser") -> bool:
        parser.skip(len(parser.buffer))
        return False

    def _name(self, parser: "Parser") -> bool:
        match = _NAME_KEY.match(parser.buffer, parser.at)
        if match is None:
            if _OPEN_NAME_KEY.match(parser.buffer, parser.at) and len(parser.buffer) - parser.at <= NAME_LIMIT:
                return False
            parser.reject("malformed", "a call's JSON is broken")
            return True
        parser.hold()
        parser.name = json.loads(f'"{match.group(1)}"')
        parser.skip(match.end())
        self._arguments = Arguments()
        return True


_NAME_KEY = re.compile(r'\{[ \t\r\n]*"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"[ \t\r\n]*:')
_OPEN_NAME_KEY = re.compile(r'\{[ \t\r\n]*(?:"(?:[^"\\]|\\.)*(?:"[ \t\r\n]*|\\)?)?\Z', re.DOTALL)


class _ClosingBrace:
    """The brace behind the arguments of a call whose key was its name."""

    __slots__ = ("_position",)

    def __init__(self, position: Position) -> None:
        self._position = position

    def read(self, parser: "Parser") -> bool:
        if not parser.skip_space():
            return False
        if parser.buffer[parser.at] == "}":
            parser.skip(parser.at + 1)
        else:
            parser.notice("repaired", "a missing brace")
        parser.go(self._position)
        return True

    def finish(self, parser: "Parser") -> bool:
        parser.go(self._position)
        return True
