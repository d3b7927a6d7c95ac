"""One JSON value, read piece by piece and written out as valid JSON.

What is valid passes byte for byte: spacing, big integers, `1.0` and escapes survive. What models write instead of JSON is put
right where only one meaning is possible (raw control characters in strings, trailing commas, Python's literals and quotes); each
such repair is noted. Anything else makes the value bad.
"""

from enum import Enum, auto

from ..passage import Passage
from .boundary import space_end
from .json_scalar import SCALAR, is_scalar, python_scalar
from .json_string import JsonString

_SCALAR_LIMIT = 4096
_CLOSERS = {"{": "}", "[": "]", "(": ")"}


class State(Enum):
    """What the value is at."""

    VALUE = auto()
    FIRST_ITEM = auto()
    ITEM = auto()
    FIRST_KEY = auto()
    KEY = auto()
    COLON = auto()
    AFTER = auto()
    STRING = auto()
    SCALAR = auto()
    DONE = auto()
    BAD = auto()


# Looked at for every delta; a name of the module is found faster than a member of an enumeration.
_STRING, _SCALAR, _DONE, _BAD = State.STRING, State.SCALAR, State.DONE, State.BAD


class JsonValue:
    """An incremental JSON value. `feed` consumes, `out` collects the JSON text, `state` says DONE or BAD at the end.

    `pauses`: the first feed that makes it `begun` consumes no further, whatever has arrived.
    """

    __slots__ = (
        "_comma",
        "_is_key",
        "_pauses",
        "_scalar",
        "_string",
        "begun",
        "depth_limit",
        "lacks_closers",
        "out",
        "python",
        "repairs",
        "stack",
        "state",
    )

    def __init__(self, *, python: bool = False, pauses: bool = False) -> None:
        self.state = State.VALUE
        self.stack: list[str] = []
        self.out: list[str] = []
        self.repairs: set[str] = set()
        self.python = python
        self.begun = False
        """A key with its colon, or a closed value, has been read: this is an object and not prose in braces."""
        self.lacks_closers = False
        """It went bad where all that is missing is the closers of what is open."""
        self._pauses = pauses
        self.depth_limit = 512
        self._string = JsonString(self.out, self.repairs, python=python)
        self._is_key = False
        self._scalar = ""
        self._comma: str | None = None

    def take(self) -> str:
        """The JSON text written since the last call."""
        text = "".join(self.out)
        self.out.clear()
        return text

    def feed(self, text: str, position: int) -> int:
        """Consume from `text[position:]`; the index behind what was consumed (all of it unless DONE or BAD)."""
        end = len(text)
        while position < end:
            state = self.state
            if state is _STRING:
                position = self._string.read(text, position)
                if not self._string.open:
                    self.state = self._behind_string()
            elif state is _SCALAR:
                position = self._scalar_part(text, position)
            elif state is _DONE or state is _BAD:
                break
            else:
                position = self._structure(text, position)
                if self.begun and self._pauses:
                    self._pauses = False
                    break
        return position

    def close(self) -> None:
        """Write the closers that are missing; a value that lacks nothing else is whole then."""
        self.out.extend("}" if bracket == "{" else "]" for bracket in reversed(self.stack))
        self.stack.clear()
        self.repairs.add("a missing brace")
        self.state = State.DONE

    @property
    def escaped_quotes(self) -> bool:
        """Whether a backslash stands before one of its own quotes inside the string that was read last."""
        return self._string.escaped_quotes

    def reopen(self, text: str, *, quote: str = "") -> None:
        """The string that is all of this value does not end at the quote just read: `text`, as JSON, stands in its place.

        `quote`: it goes on to a quote of another kind.
        """
        self.out[-1] = text
        self._string.reopen(quote)
        self.state = State.STRING

    def plain(self, text: str, position: int) -> str:
        """All of `text[position:]` if it stands inside a string and is written as it is read, else nothing. None is consumed."""
        if self.state is not _STRING or self._string.escaping:
            return ""
        match = self._string.passage.pattern.match(text, position)
        return match.group() if match is not None and match.end() == len(text) else ""

    @property
    def passage(self) -> Passage | None:
        """What passes as it is written; None outside of strings."""
        return self._string.passage if self.state is _STRING and not self._string.escaping else None

    def finish(self) -> None:
        """The text is at its end: a bare number or word may be whole now."""
        if self.state is State.SCALAR:
            self._scalar_end()

    # ---- between tokens
    def _structure(self, text: str, position: int) -> int:
        behind = space_end(text, position)
        if behind > position:
            self._space(text[position:behind])
        if behind == len(text):
            return behind
        character = text[behind]
        match self.state:
            case State.COLON:
                return self._expect_colon(character, behind)
            case State.AFTER:
                return self._after_value(character, behind)
            case State.FIRST_KEY | State.KEY:
                return self._key(character, behind)
            case _:
                return self._value(character, behind)

    def _space(self, space: str) -> None:
        if self._comma is not None:
            self._comma += space
        else:
            self.out.append(space)

    def _flush_comma(self) -> None:
        if self._comma is not None:
            self.out.append(self._comma)
            self._comma = None

    def _expect_colon(self, character: str, position: int) -> int:
        if character != ":":
            self.state = State.BAD
            return position
        self.out.append(":")
        self.begun = True
        self.state = State.VALUE
        return position + 1

    def _after_value(self, character: str, position: int) -> int:
        top = self.stack[-1]
        if character == ",":
            self._comma = ","  # held: a closer behind it makes it a trailing comma
            self.state = State.KEY if top == "{" else State.ITEM
            return position + 1
        self.lacks_closers = character not in "}])"
        return self._close(character, position)

    def _close(self, character: str, position: int) -> int:
        top = self.stack[-1] if self.stack else ""
        if _CLOSERS.get(top) != character:
            self.state = State.BAD
            return position
        if self._comma is not None:
            if not (self.python and top == "("):
                self.repairs.add("trailing comma")
            self.out.append(self._comma[1:])
            self._comma = None
        self.out.append("]" if character == ")" else character)
        self.stack.pop()
        self.begun = True
        self.state = State.AFTER if self.stack else State.DONE
        return position + 1

    def _key(self, character: str, position: int) -> int:
        if character in "\"'":
            self._flush_comma()
            return self._open_string(character, position, is_key=True)
        if character == "}":
            return self._close(character, position)
        self.state = State.BAD
        return position

    def _value(self, character: str, position: int) -> int:
        if character in "])" and self.state in (State.FIRST_ITEM, State.ITEM):
            return self._close(character, position)
        self._flush_comma()
        if character in "{[" or (character == "(" and self.python):
            self.stack.append(character)
            self.out.append("[" if character == "(" else character)
            self.state = State.FIRST_KEY if character == "{" else State.FIRST_ITEM
            if len(self.stack) > self.depth_limit:
                self.state = State.BAD
            return position + 1
        if character in "\"'":
            return self._open_string(character, position, is_key=False)
        if SCALAR.match(character):
            self._scalar = ""
            self.state = State.SCALAR
            return position
        self.state = State.BAD
        return position

    # ---- strings
    def _open_string(self, quote: str, position: int, *, is_key: bool) -> int:
        self._string.begin(quote)
        self._is_key = is_key
        self.state = State.STRING
        return position + 1

    def _behind_string(self) -> State:
        if self._is_key:
            return State.COLON
        return State.AFTER if self.stack else State.DONE

    # ---- numbers and words
    def _scalar_part(self, text: str, position: int) -> int:
        match = SCALAR.match(text, position, position + _SCALAR_LIMIT - len(self._scalar))
        if match:
            self._scalar += match.group()
            position = match.end()
            if len(self._scalar) == _SCALAR_LIMIT:
                self.state = State.BAD
        if position < len(text) and self.state is State.SCALAR:
            self._scalar_end()
        return position

    def _scalar_end(self) -> None:
        word = self._scalar
        self.state = State.AFTER if self.stack else State.DONE
        if is_scalar(word):
            self.out.append(word)
            return
        replaced = python_scalar(word, numbers=self.python)
        if replaced is None:
            self.state = State.BAD
            return
        if not self.python:
            self.repairs.add("Python literal")
        self.out.append(replaced)
