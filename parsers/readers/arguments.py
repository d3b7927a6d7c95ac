"""The arguments of a call where they are one JSON value of their own."""

import json
from typing import TYPE_CHECKING, Literal

from ..automaton import SHORTEST_TAG, Position
from ..passage import Passage
from .behind import ends_behind
from .boundary import boundary, whole
from .json_value import JsonValue, State
from .reader import Reader
from .surrogates import encodable

if TYPE_CHECKING:
    from ..parser import Parser

_BEGINNINGS = frozenset("{\"'nN")
"""An object, a string that holds one, or `null`."""
Outcome = Literal["more", "held", "done", "bad"]
"""`held`: what stands here may become a marker."""


class Arguments:
    """The arguments of one call: an object that streams, or one that hides in a string or an array, or nothing (`null`, `[]`).

    `ends`: the markers that end the call; where one stands, braces that are missing are put in.
    """

    __slots__ = ("_ends", "_first", "_value", "begun", "text")

    def __init__(self, ends: tuple[str, ...] = ()) -> None:
        self._ends = tuple(end for end in ends if len(end) >= SHORTEST_TAG)
        self._value = JsonValue(pauses=True)
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
            if self._first not in _BEGINNINGS and self._first != "[":
                return "bad"
        value = self._value
        parser.skip(value.feed(parser.buffer, parser.at))
        if value.lacks_closers and value.state is State.BAD and self._ends:
            match = boundary(self._ends).match(parser.buffer, parser.at)
            if match is not None and match.group(1) is None:
                if self._first == "{":
                    self._stream(value)
                return "held"
            if match is not None:
                value.close()
        if self._first == "{":
            return self._stream(value)
        if value.state is State.DONE:
            return self._unpack(value.take())
        return "bad" if value.state is State.BAD else "more"

    def flow(self, parser: "Parser") -> bool:
        """Give out all that has arrived if it is plain text inside a string of an open call, as it is nearly always."""
        text = self._value.plain(parser.buffer, parser.at) if parser.calls.open and self.begun else ""
        if text:
            parser.skip(len(parser.buffer))
            parser.calls.arguments(text)
        return bool(text)

    def passage(self, parser: "Parser") -> Passage | None:
        """What would flow."""
        return self._value.passage if parser.calls.open and self.begun and not self.text else None

    def advance(self, parser: "Parser") -> bool | None:
        """Read on, and open the call whose name was read before. As a reader says, whether it moved; None once all is read."""
        outcome = self.read(parser)
        if self.begun and not parser.in_call():
            return True
        self.give_out(parser)
        if outcome == "held":
            return False
        if outcome == "more":
            return parser.at < len(parser.buffer)
        note_repairs(parser, self.repairs)
        if outcome == "bad":
            parser.reject("malformed", "the arguments of a call are not a JSON object")
            return True
        return None

    def give_out(self, parser: "Parser") -> None:
        """Emit what is ready, if the call is open."""
        if parser.calls.open and self.text:
            parser.calls.arguments("".join(self.text))
            self.text.clear()

    def _stream(self, value: JsonValue) -> Outcome:
        if value.begun:
            self.begun = True
            self.text.append(value.take())
        if value.state is State.BAD:
            return "bad"
        return "done" if value.state is State.DONE else "more"

    def _unpack(self, written: str) -> Outcome:
        """No object: `null`, `""` and `[]` mean no arguments; a string, or an array of one, may hold the object."""
        scalar = json.loads(written)
        if not scalar or (isinstance(scalar, str) and not scalar.strip()):
            self.text.append("{}")
        elif isinstance(scalar, list) and len(scalar) == 1 and isinstance(scalar[0], dict):
            self.text.append(written.strip()[1:-1].strip())
            self.repairs.add("arguments in an array")
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
    return encodable(written) if written.startswith("{") else None


class ArgumentsReader(Reader):
    """Arguments alone, behind a name that was read before."""

    __slots__ = ("_arguments", "_begun", "_position")

    def __init__(self, position: Position) -> None:
        self._position = position
        self._arguments = Arguments(ends_behind(position))
        self._begun = False

    def read(self, parser: "Parser") -> bool:
        if self._arguments.flow(parser):
            return False
        if not self._begun:
            if parser.at == len(parser.buffer) or parser.buffer[parser.at] not in _BEGINNINGS:
                return self._read_before(parser)
            self._begun = True
        moved = self._arguments.advance(parser)
        if moved is None:
            parser.go(self._position)
        return moved is not False

    def _read_before(self, parser: "Parser") -> bool:
        """No object stands here yet. Where the call ends at once it has no arguments; of a turn that was cut it is not known."""
        if not parser.skip_space():
            return False
        if parser.buffer[parser.at] in _BEGINNINGS:
            return True
        if parser.reason == "length":
            parser.skip(len(parser.buffer))
            return False
        ends = ends_behind(self._position)
        match = (whole if parser.reason else boundary)(ends).match(parser.buffer, parser.at) if ends else None
        if match is not None and match.group(1) is None:
            return False
        if match is None:
            parser.reject("malformed", "the arguments of a call are not a JSON object")
        elif parser.in_call():
            parser.calls.arguments("{}")
            parser.go(self._position)
        return True

    def finish(self, parser: "Parser") -> bool:
        parser.skip(len(parser.buffer))
        return False

    def passage(self, parser: "Parser") -> Passage | None:
        return self._arguments.passage(parser)


def note_repairs(parser: "Parser", repairs: set[str]) -> None:
    """One notice per kind of repair, if there is a call that was repaired."""
    for repair in sorted(repairs) if parser.calls.open else ():
        parser.notice("repaired", repair)
