"""One string of a JSON value, read piece by piece: raw control characters, Python's quotes and unknown escapes are put right."""

import re

from ..passage import json_string

_PLAIN = {'"': re.compile(r'[^"\\\x00-\x1f]+'), "'": re.compile(r"[^'\"\\\x00-\x1f]+")}
_PASSAGES = {quote: json_string(quote) for quote in "\"'"}
"""What is written as it is read, by the quote that the string stands in."""
_ESCAPES = frozenset('"\\/bfnrt')
_HEX = re.compile(r"[0-9a-fA-F]+")
_CONTROL = {chr(code): f"\\u{code:04x}" for code in range(32)} | {
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\b": "\\b",
    "\f": "\\f",
}


class JsonString:
    """Reads from behind a string's first quote to behind its last. JSON text goes to `out`, what was put right to `repairs`."""

    __slots__ = ("_escape", "_out", "_plain", "_python", "_quote", "_repairs", "escaped_quotes", "open", "passage")

    def __init__(self, out: list[str], repairs: set[str], *, python: bool) -> None:
        self._out = out
        self._repairs = repairs
        self._python = python
        self.open = False
        self.escaped_quotes = False
        """A backslash stands before one of its own quotes."""
        self._quote = '"'
        self.passage = _PASSAGES['"']
        """What passes as it is, outside an escape."""
        self._plain = _PLAIN['"']
        self._escape: str | None = None
        """The escape that is being read, without its backslash."""

    def begin(self, quote: str) -> None:
        """A string in these quotes begins."""
        if quote == "'" and not self._python:
            self._repairs.add("single quotes")
        self.open = True
        self.escaped_quotes = False
        self._quote, self._plain, self.passage = quote, _PLAIN[quote], _PASSAGES[quote]
        self._out.append('"')

    def reopen(self, quote: str = "") -> None:
        """The string goes on, to a quote of another kind if one is given."""
        self.open = True
        if quote:
            self._quote, self._plain, self.passage = quote, _PLAIN[quote], _PASSAGES[quote]

    @property
    def escaping(self) -> bool:
        """Whether the text so far ends inside an escape."""
        return self._escape is not None

    def read(self, text: str, position: int) -> int:
        """Consume a stretch of `text[position:]`, which is not empty; the index behind it. `open` says whether more follows."""
        if self._escape is not None:
            return self._escaped(text, position, self._escape)
        match = self._plain.match(text, position)
        if match:
            self._out.append(match.group())
            position = match.end()
            if position == len(text):
                return position
        self._special(text[position])
        return position + 1

    def _special(self, character: str) -> None:
        if character == self._quote:
            self._out.append('"')
            self.open = False
        elif character == "\\":
            self._escape = ""
        elif character == '"':
            self._out.append('\\"')
        else:
            if not self._python:
                self._repairs.add("raw control character")
            self._out.append(_CONTROL[character])

    # ---- escapes
    def _escaped(self, text: str, position: int, escape: str) -> int:
        if escape:
            return self._hex_escape(text, position, escape)
        character = text[position]
        if character in "ux":
            self._escape = character
            return position + 1
        self._escape = None
        if character == self._quote:
            self.escaped_quotes = True
        if character in _ESCAPES:
            self._out.append("\\" + character)
        elif character == "'":
            self._note_escape()
            self._out.append("'")
        elif not (character == "\n" and self._python):  # Python joins the lines
            self._note_escape()
            self._out.append("\\\\" + _CONTROL.get(character, character))
        return position + 1

    def _hex_escape(self, text: str, position: int, escape: str) -> int:
        wanted = 4 if escape[0] == "u" else 2
        match = _HEX.match(text, position, position + wanted - len(escape) + 1)
        if match:
            escape += match.group()
            position = match.end()
        if len(escape) > wanted:
            self._out.append("\\u" + escape[1:].rjust(4, "0"))
            if wanted == 2:
                self._note_escape()
        elif position == len(text):
            self._escape = escape
            return position
        else:
            self._note_escape()  # not an escape after all: the backslash was meant
            self._out.append("\\\\" + escape)
        self._escape = None
        return position

    def _note_escape(self) -> None:
        if not self._python:
            self._repairs.add("escape that JSON does not know")
