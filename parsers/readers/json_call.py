"""A whole call as one JSON object. It opens once its name is whole and its arguments have begun as an object does."""

import json
from typing import TYPE_CHECKING

from ..automaton import Position
from ..description import JsonCall
from ..passage import Passage
from .arguments import Arguments, note_repairs
from .behind import NAME_LIMIT, ends_behind, within
from .boundary import boundary, whole
from .json_value import JsonValue, State
from .members import ARGUMENTS, ENVELOPE, FUNCTIONS, IDS, KEY, NAMES, OPEN_KEY, Members, left_out
from .reader import Reader
from .surrogates import is_encodable

if TYPE_CHECKING:
    from ..parser import Parser


class JsonCallReader(Reader):
    """Reads name, arguments and perhaps an id, in any order, also in OpenAI's envelope."""

    __slots__ = (
        "_arguments",
        "_behind_value",
        "_depth",
        "_leaf",
        "_member",
        "_name",
        "_opened",
        "_others",
        "_position",
        "_repairs",
        "_role",
        "_taken",
        "_value",
    )

    def __init__(self, position: Position, leaf: JsonCall) -> None:
        self._position = position
        self._leaf = leaf
        self._depth = 0
        self._opened = False
        self._name: str | None = None
        self._arguments: Arguments | None = None
        self._value = JsonValue()
        self._taken = 0
        self._role = ""
        self._behind_value = False
        self._repairs: set[str] = set()
        self._member = ""
        self._others = Members()

    def read(self, parser: "Parser") -> bool:
        if self._role == "arguments" and self._arguments is not None:
            return self._read_arguments(parser, self._arguments)
        if self._role == "function":
            return self._read_function(parser)
        if self._role:
            return self._read_value(parser)
        if not parser.skip_space():
            return False
        return self._structure(parser, parser.buffer[parser.at])

    def finish(self, parser: "Parser") -> bool:
        if self._complete() and parser.reason != "length":
            if parser.at < len(parser.buffer):
                return self._closer_or_broken(parser, at_end=True)
            if parser.calls.open and not self._depth:
                self._close_without_brace(parser)
                return True
        parser.skip(len(parser.buffer))
        return False

    def passage(self, parser: "Parser") -> Passage | None:
        arguments = self._arguments if self._role == "arguments" else None
        return arguments.passage(parser) if arguments is not None else None

    # ---- structure
    def _structure(self, parser: "Parser", character: str) -> bool:
        if not self._opened:
            return self._open_brace(parser, character)
        if character in "\"'" and not self._behind_value:
            return self._key(parser)
        if character == "," and self._behind_value:
            self._behind_value = False
            parser.skip(parser.at + 1)
        elif character == "}":
            self._close_brace(parser)
        else:
            return self._closer_or_broken(parser, at_end=False)
        return True

    def _open_brace(self, parser: "Parser", character: str) -> bool:
        if character != "{":
            return self._broken(parser)
        parser.hold()
        self._opened = True
        parser.skip(parser.at + 1)
        return True

    def _close_brace(self, parser: "Parser") -> None:
        if not self._behind_value and (self._name is not None or self._arguments is not None):
            self._repairs.add("trailing comma")
        parser.skip(parser.at + 1)
        self._behind_value = True
        if self._depth:
            self._depth -= 1
        else:
            self._done(parser)

    def _broken(self, parser: "Parser") -> bool:
        parser.reject("malformed", "a call's JSON is broken")
        return True

    # ---- keys
    def _key(self, parser: "Parser") -> bool:
        match, waits = within(KEY, OPEN_KEY, parser)
        if waits:
            return False
        if match is None:
            return self._broken(parser)
        key = match.group(1) if match.group(1) is not None else match.group(2)
        role = self._role_of(parser, key)
        if role is None:
            parser.reject("literal_marker", f"a JSON object with the key {key[:40]!r} is not a call")
            return True
        parser.skip(match.end())
        self._member = key
        self._begin_value(role)
        return True

    def _role_of(self, parser: "Parser", key: str) -> str | None:
        """What a key holds; None when no call has it."""
        leaf = self._leaf
        if key in leaf.name and self._name is None:
            return "name"
        if key in leaf.arguments and self._arguments is None:
            if key != leaf.arguments[0]:
                self._repairs.add(f"{key} for {leaf.arguments[0]}")
            return "arguments"
        if key in FUNCTIONS and self._name is None:
            return "function"
        if key in ENVELOPE:
            self._others.add_envelope(key)
            return "id" if key in IDS else "other"
        return None if leaf.needs_arguments else self._role_of_other(parser, key)

    def _role_of_other(self, parser: "Parser", key: str) -> str:
        """What a key holds that no call of this format should have; the value of one that is a tool's name is its arguments."""
        leaf = self._leaf
        if key in ARGUMENTS and self._arguments is None:
            self._repairs.add(f"{key} for {leaf.arguments[0]}")
            return "arguments"
        if key in NAMES and self._name is None:
            self._repairs.add(f"{key} for {leaf.name[0]}")
            return "name"
        if self._name is None and self._arguments is None and parser.calls.declared(key) is not None and parser.calls.tools:
            self._name = key
            self._repairs.add("the name of the tool as a key")
            return "arguments"
        if self._arguments is None:
            return "beside"
        self._repairs.add(left_out(key))
        return "other"

    def _begin_value(self, role: str) -> None:
        self._role = role
        if role == "arguments":
            self._arguments = Arguments(ends_behind(self._position))
        else:
            self._value = JsonValue()
            self._taken = 0

    # ---- values
    def _read_function(self, parser: "Parser") -> bool:
        """`"function":` holds the name, or an object with name and arguments."""
        if not parser.skip_space():
            return False
        if parser.buffer[parser.at] == "{":
            self._role = ""
            self._depth += 1
            parser.skip(parser.at + 1)
        else:
            self._begin_value("name")
        return True

    def _read_arguments(self, parser: "Parser", arguments: Arguments) -> bool:
        if arguments.flow(parser):
            return False
        outcome = arguments.read(parser)
        if not self._open(parser):
            return True
        if outcome == "held":
            return False
        if outcome == "more":
            return parser.at < len(parser.buffer)
        self._repairs |= arguments.repairs
        self._role = ""
        self._behind_value = True
        if outcome == "bad":
            note_repairs(parser, self._repairs)
            parser.reject("malformed", "the arguments of a call are not a JSON object")
        return True

    def _read_value(self, parser: "Parser") -> bool:
        value = self._value
        if self._role in ("other", "beside"):
            parser.skip(value.feed(parser.buffer, parser.at))
            if self._role == "other":
                value.out.clear()
        else:
            self._take_short(parser, value)
        if value.state is State.BAD or (value.state is not State.DONE and self._taken >= NAME_LIMIT):
            return self._broken(parser)
        if value.state is not State.DONE:
            return False
        role, self._role = self._role, ""
        self._behind_value = True
        if role == "beside":
            self._others.add(self._member, value.take().strip())
            self._repairs |= value.repairs
        elif role != "other":
            self._told(parser, role, json.loads(value.take()))
        return True

    def _take_short(self, parser: "Parser", value: JsonValue) -> None:
        """Feed a value that is no longer than a name may be."""
        piece = parser.buffer[parser.at : parser.at + NAME_LIMIT - self._taken]
        taken = value.feed(piece, 0)
        self._taken += taken
        parser.skip(parser.at + taken)

    def _told(self, parser: "Parser", role: str, value: object) -> None:
        """The value of the id or of the name is known."""
        if role == "id":
            parser.calls.id = str(value) if isinstance(value, str | int) and is_encodable(str(value)) else None
        elif not isinstance(value, str) or not value.strip() or not is_encodable(value):
            parser.reject("malformed", "a call's name is not a string")
        else:
            self._name = value
            self._open(parser)

    def _open(self, parser: "Parser") -> bool:
        """Open the call if it is certain, and give out its arguments; False: it was a draft that is text now."""
        arguments = self._arguments
        if arguments is None or not arguments.begun or self._name is None:
            return True
        if not parser.calls.open and not parser.open_call(self._name):
            return False
        arguments.give_out(parser)
        return True

    # ---- the end
    def _complete(self) -> bool:
        return self._name is not None and self._arguments is not None and self._role == "" and self._behind_value

    def _done(self, parser: "Parser") -> None:
        if self._leaf.needs_arguments and (self._name is None or self._arguments is None):
            parser.reject("literal_marker", "a JSON object without name and arguments is not a call")
        elif self._name is None:
            if parser.open_as_text("malformed", "a call has no name"):
                parser.go(self._position)
        elif self._arguments is None and self._others:
            self._take_beside(parser, self._name)
        elif parser.calls.open or parser.open_call(self._name):
            self._repairs |= self._others.repairs()
            note_repairs(parser, self._repairs)
            parser.go(self._position)

    def _take_beside(self, parser: "Parser", name: str) -> None:
        """What stands beside the name is the arguments, where the tool knows all of it."""
        tools, declared = parser.calls.tools or {}, parser.calls.declared(name)
        arguments = self._others.as_arguments(tools.get(declared or ""))
        if arguments is None:
            parser.reject("malformed", "a call's arguments stand under keys that are not theirs")
        elif parser.open_call(name):
            parser.calls.arguments(arguments)
            note_repairs(parser, self._repairs | {"arguments beside the name"})
            parser.go(self._position)

    def _closer_or_broken(self, parser: "Parser", *, at_end: bool) -> bool:
        """A closing marker where the last brace should be: the call was whole all the same."""
        texts = ends_behind(self._position)
        if self._complete() and not self._depth and texts:
            match = (whole if at_end else boundary)(texts).match(parser.buffer, parser.at)
            if match is not None and match.group(1) is None:
                return False
            if match is not None:
                self._close_without_brace(parser)
                return True
        return self._broken(parser)

    def _close_without_brace(self, parser: "Parser") -> None:
        self._repairs.add("a missing brace")
        note_repairs(parser, self._repairs)
        parser.go(self._position)
