"""One JSON value, read piece by piece and written out as valid JSON.

What is valid passes byte for byte: spacing, big integers, `1.0` and escapes survive. What models write instead of JSON is put
right where only one meaning is possible (raw control characters in strings, trailing commas, Python's literals and quotes); each
such repair is noted. Anything else makes the value bad.
"""

import re
from enum import Enum, auto

from .boundary import space_end

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_PYTHON_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]*)?(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?\Z")
_SCALAR = re.compile(r"[-+.0-9A-Za-z_]+")
_WORDS = {"True": "true", "False": "false", "None": "null"}
_JSON_WORDS = frozenset({"true", "false", "null"})
_SCALAR_LIMIT = 4096
_PLAIN = {'"': re.compile(r'[^"\\\x00-\x1f]+'), "'": re.compile(r"[^'\"\\\x00-\x1f]+")}
_ESCAPES = frozenset('"\\/bfnrt')
_HEX = re.compile(r"[0-9a-fA-F]+")
_CONTROL = {chr(code): f"\\u{code:04x}" for code in range(32)} | {
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\b": "\\b",
    "\f": "\\f",
}


_HALF = re.compile("[\ud800-\udfff]")


def is_encodable(text: str) -> bool:
    """Whether a text holds whole characters only, no lone half of a surrogate pair: those cannot be sent."""
    return _HALF.search(text) is None


def encodable(written: str) -> str:
    """The same JSON text with lone halves of surrogate pairs escaped."""
    return _HALF.sub(lambda half: f"\\u{ord(half.group()):04x}", written)


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
    ESCAPE = auto()
    SCALAR = auto()
    DONE = auto()
    BAD = auto()


# Looked at for every delta; a name of the module is found faster than a member of an enumeration.
_STRING, _ESCAPE, _SCALAR_STATE, _DONE, _BAD = State.STRING, State.ESCAPE, State.SCALAR, State.DONE, State.BAD


class JsonValue:
    """An incremental JSON value. `feed` consumes, `out` collects the JSON text, `state` says DONE or BAD at the end.

    `pauses`: the first feed that makes it `begun` consumes no further, whatever has arrived.
    """

    __slots__ = (
        "_comma",
        "_escape",
        "_is_key",
        "_pauses",
        "_quote",
        "_scalar",
        "begun",
        "depth_limit",
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
        self._pauses = pauses
        self.depth_limit = 512
        self._quote = '"'
        self._is_key = False
        self._scalar = ""
        self._escape = ""
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
                position = self._string(text, position)
            elif state is _ESCAPE:
                position = self._escaped(text, position)
            elif state is _SCALAR_STATE:
                position = self._scalar_part(text, position)
            elif state is _DONE or state is _BAD:
                break
            else:
                position = self._structure(text, position)
                if self.begun and self._pauses:
                    self._pauses = False
                    break
        return position

    def plain(self, text: str, position: int) -> str:
        """All of `text[position:]` if it stands inside a string and is written as it is read, else nothing. None is consumed."""
        if self.state is not _STRING:
            return ""
        match = _PLAIN[self._quote].match(text, position)
        return match.group() if match is not None and match.end() == len(text) else ""

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
        return self._close(character, position)

    def _close(self, character: str, position: int) -> int:
        top = self.stack[-1] if self.stack else ""
        if (top, character) not in (("{", "}"), ("[", "]"), ("(", ")")):
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
        if _SCALAR.match(character):
            self._scalar = ""
            self.state = State.SCALAR
            return position
        self.state = State.BAD
        return position

    # ---- strings
    def _open_string(self, quote: str, position: int, *, is_key: bool) -> int:
        if quote == "'" and not self.python:
            self.repairs.add("single quotes")
        self._quote = quote
        self._is_key = is_key
        self.out.append('"')
        self.state = State.STRING
        return position + 1

    def _string(self, text: str, position: int) -> int:
        match = _PLAIN[self._quote].match(text, position)
        if match:
            self.out.append(match.group())
            position = match.end()
            if position == len(text):
                return position
        character = text[position]
        if character == self._quote:
            self.out.append('"')
            self.state = self._behind_string()
        elif character == "\\":
            self._escape = ""
            self.state = State.ESCAPE
        elif character == '"':
            self.out.append('\\"')
        else:
            if not self.python:
                self.repairs.add("raw control character")
            self.out.append(_CONTROL[character])
        return position + 1

    def _behind_string(self) -> State:
        if self._is_key:
            return State.COLON
        return State.AFTER if self.stack else State.DONE

    def _escaped(self, text: str, position: int) -> int:
        character = text[position]
        if self._escape:
            return self._hex_escape(text, position)
        if character in _ESCAPES:
            self.out.append("\\" + character)
        elif character in "ux":
            self._escape = character
            return position + 1
        elif character == "'":
            self._note_escape()
            self.out.append("'")
        elif character == "\n" and self.python:
            pass  # Python joins the lines
        else:
            self._note_escape()
            self.out.append("\\\\" + _CONTROL.get(character, character))
        self.state = State.STRING
        return position + 1

    def _note_escape(self) -> None:
        if not self.python:
            self.repairs.add("escape that JSON does not know")

    def _hex_escape(self, text: str, position: int) -> int:
        wanted = 4 if self._escape[0] == "u" else 2
        match = _HEX.match(text, position, position + wanted - len(self._escape) + 1)
        if match:
            self._escape += match.group()
            position = match.end()
            if len(self._escape) <= wanted:
                if position == len(text):
                    return position
            else:
                self.out.append("\\u" + self._escape[1:].rjust(4, "0"))
                if wanted == 2:
                    self._note_escape()
                self.state = State.STRING
                return position
        self._note_escape()  # not an escape after all: the backslash was meant
        self.out.append("\\\\" + self._escape)
        self.state = State.STRING
        return position

    # ---- numbers and words
    def _scalar_part(self, text: str, position: int) -> int:
        match = _SCALAR.match(text, position, position + _SCALAR_LIMIT - len(self._scalar))
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
        if word in _JSON_WORDS or _NUMBER.match(word):
            self.out.append(word)
            return
        replaced = _WORDS.get(word) or (_python_number(word) if self.python else None)
        if replaced is None:
            self.state = State.BAD
            return
        if not self.python:
            self.repairs.add("Python literal")
        self.out.append(replaced)


def _python_number(word: str) -> str | None:
    """The JSON spelling of a number that Python or a careless model may write (`+1`, `.5`, `5.`, `007`, `1_000`)."""
    if not _PYTHON_NUMBER.match(word) or not any(c.isdigit() for c in word.lower().partition("e")[0]):
        return None
    digits = word.replace("_", "").lstrip("+")
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    mantissa, e, exponent = digits.lower().partition("e")
    whole, dot, fraction = mantissa.partition(".")
    return f"{sign}{whole.lstrip('0') or '0'}{dot + (fraction or '0') if dot else ''}{e + exponent if e else ''}"
