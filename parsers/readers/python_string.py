"""Where a string ends that is an argument of a Python call: at its quote, unless what follows shows that to be text.

Models that write shell commands or code leave quotes in them as they are: `run(code='sed -n '1,5p' a.py')`. A quote is text where
neither another argument nor the end of the call stands behind it. Quotes come in pairs; where the call seems to end after an odd
number of them, or where the string has other signs of being read wrongly, it is given up rather than guessed.
"""

import re
from typing import TYPE_CHECKING, Literal

from ..automaton import Position
from .behind import NAME_LIMIT, texts_behind
from .boundary import boundary, in_order, space_end
from .json_value import JsonValue
from .values import knows

if TYPE_CHECKING:
    from ..parser import Parser

_LOOKAHEAD = 256
"""Characters of white space that are looked past."""
_OPERATORS = "+*%.["
"""What Python may put behind a string to make another value of it."""
KEYWORD = re.compile(r"""(["']?)([^\W\d][\w\-]*)\1[ \t\r\n]*=[ \t\r\n]*""")
OPEN_KEYWORD = re.compile(r"""["']?(?:[^\W\d][\w\-]*["']?[ \t\r\n]*)?\Z""")
_CALL = re.compile(r"[^\W\d][\w.\-]*[ \t\r\n]*\(")
_OPEN_CALL = re.compile(r"(?:[^\W\d][\w.\-]*[ \t\r\n]*)?\Z")
Verdict = Literal["ends", "goes on", "waits", "broken"]


class StringEnd:
    """Judges the quotes of one string."""

    __slots__ = ("_joined", "_position", "_quote", "_triple", "guessed")

    def __init__(self, position: Position, quote: str, *, triple: bool) -> None:
        self._position = position
        self._quote = quote
        self._triple = triple
        self._joined = False
        self.guessed = 0
        """Quotes that were taken for text of the string."""

    def judge(self, parser: "Parser", value: JsonValue) -> Verdict:
        """What the quote just read, behind which the parser stands, does to the string."""
        if self._triple:
            return self._behind_one_of_three(parser, value)
        at = space_end(parser.buffer, parser.at, parser.at + _LOOKAHEAD)
        if at == len(parser.buffer):
            return "ends" if parser.reason else "waits"
        character = parser.buffer[at]
        if character in "\"'" and (at > parser.at or character != self._quote):
            return self._join(parser, value, at)
        ends = self._ends(parser, at)
        if ends is None:
            return "waits"
        if ends:
            return "broken" if self.guessed and (self.guessed % 2 or value.escaped_quotes) else "ends"
        if character in _OPERATORS or self._joined or (character == "," and not self.guessed):
            return "broken"
        self.guessed += 1
        value.reopen('\\"' if self._quote == '"' else self._quote)
        return "goes on"

    def _behind_one_of_three(self, parser: "Parser", value: JsonValue) -> Verdict:
        others = self._quote * 2
        rest = parser.buffer[parser.at : parser.at + 2]
        if rest == others:
            parser.skip(parser.at + 2)
            return "ends"
        if others.startswith(rest) and not parser.reason:
            return "waits"
        value.reopen('\\"' if self._quote == '"' else self._quote)
        return "goes on"

    def _join(self, parser: "Parser", value: JsonValue, at: int) -> Verdict:
        """Strings that stand side by side are one, in Python."""
        if self.guessed:
            return "broken"
        self._joined = True
        self._quote = parser.buffer[at]
        parser.skip(at + 1)
        value.reopen("", quote=self._quote)
        return "goes on"

    def _ends(self, parser: "Parser", at: int) -> bool | None:
        """Whether another argument or the end of the call stands here; None: not enough has arrived to tell."""
        if parser.buffer[at] == ")":
            return True if not self.guessed else self._closes(parser, at)
        if parser.buffer[at] != ",":
            return False
        at = space_end(parser.buffer, at + 1, at + 1 + _LOOKAHEAD)
        if at == len(parser.buffer):
            return True if parser.reason else None
        if parser.buffer[at] == ")":
            return True if not self.guessed else self._closes(parser, at)
        return self._is_argument(parser, at)

    def _is_argument(self, parser: "Parser", at: int) -> bool | None:
        match = KEYWORD.match(parser.buffer, at, at + NAME_LIMIT)
        if match is None:
            return None if _waits(parser, at, OPEN_KEYWORD) else False
        if match.end() == len(parser.buffer) and not parser.reason:
            return None  # it may be a comparison
        if parser.buffer.startswith("=", match.end()):
            return False
        return not self.guessed or parser.calls.tool is None or knows(parser.calls.tool, match.group(2))

    def _closes(self, parser: "Parser", at: int) -> bool | None:
        """Whether the parenthesis that stands here closes the call."""
        at = space_end(parser.buffer, at + 1, at + 1 + _LOOKAHEAD)
        if at == len(parser.buffer):
            return True if parser.reason else None
        follow = in_order([*texts_behind(self._position), *parser.format.stop])
        match = boundary(follow).match(parser.buffer, at) if follow else None
        if match is not None and match.group(1) is None:
            return None if not parser.reason else False
        if match is not None and match.group(1) != ",":
            return True
        at = space_end(parser.buffer, at if match is None else match.end(), at + _LOOKAHEAD)
        if _CALL.match(parser.buffer, at, at + NAME_LIMIT):
            return True
        return None if _waits(parser, at, _OPEN_CALL) else False


def _waits(parser: "Parser", at: int, begun: re.Pattern[str]) -> bool:
    """Whether what stands here may still become what it is the beginning of."""
    return not parser.reason and len(parser.buffer) < at + NAME_LIMIT and begun.match(parser.buffer, at) is not None
