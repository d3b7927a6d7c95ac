"""A call as a JSON object whose only key is the tool's name."""

import json
import re
from typing import TYPE_CHECKING

from ..automaton import Position
from ..passage import Passage
from .arguments import Arguments
from .behind import within
from .reader import Reader
from .surrogates import is_encodable

if TYPE_CHECKING:
    from ..parser import Parser

_KEY = re.compile(r'\{[ \t\r\n]*"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"[ \t\r\n]*:')
_OPEN_KEY = re.compile(r'\{[ \t\r\n]*(?:"(?:[^"\\]|\\.)*(?:"[ \t\r\n]*|\\)?)?\Z', re.DOTALL)


class NameKeyedReader(Reader):
    """Reads one call."""

    __slots__ = ("_arguments", "_done", "_position")

    def __init__(self, position: Position) -> None:
        self._position = position
        self._arguments: Arguments | None = None
        self._done = False

    def read(self, parser: "Parser") -> bool:
        if self._arguments is None:
            return self._name(parser)
        if self._done:
            return self._closing_brace(parser)
        if self._arguments.flow(parser):
            return False
        moved = self._arguments.advance(parser)
        self._done = moved is None
        return moved is not False

    def finish(self, parser: "Parser") -> bool:
        if self._done and parser.reason != "length":
            self._go_on(parser)
            return True
        parser.skip(len(parser.buffer))
        return False

    def passage(self, parser: "Parser") -> Passage | None:
        return self._arguments.passage(parser) if self._arguments is not None and not self._done else None

    def _name(self, parser: "Parser") -> bool:
        match, waits = within(_KEY, _OPEN_KEY, parser)
        if waits:
            return False
        name = json.loads(f'"{match.group(1)}"') if match is not None else ""
        if match is None or not name.strip() or not is_encodable(name):
            parser.reject("malformed", "a call's JSON is broken")
            return True
        parser.hold()
        parser.calls.name = name
        parser.skip(match.end())
        self._arguments = Arguments()
        return True

    def _closing_brace(self, parser: "Parser") -> bool:
        if not parser.skip_space():
            return False
        if parser.buffer[parser.at] == "}":
            parser.skip(parser.at + 1)
            parser.go(self._position)
        else:
            self._go_on(parser)
        return True

    def _go_on(self, parser: "Parser") -> None:
        parser.notice("repaired", "a missing brace")
        parser.go(self._position)
