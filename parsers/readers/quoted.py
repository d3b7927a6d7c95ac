"""Arguments as an object with bare keys, whose strings stand between two quote tokens: `{k:<|"|>text<|"|>,n:42,o:{a:true}}`.

Nothing is escaped: a string ends at the next quote token that something stands behind which may follow a value; any other is a
quote of the text itself. A bare value that the tool's schema types is read by it; any other is
the JSON word that it is, or else a string. A string streams unless the schema wants no string there.
"""

import re
from functools import lru_cache
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Literal

from ..automaton import Position
from ..description import QuotedArguments
from ..schema import member_of, types_of
from .behind import NAME_LIMIT, texts_behind
from .boundary import boundary, in_order, space_end, whole
from .json_value import JsonValue, State
from .reader import Reader
from .values import as_json_or_text, quoted, typed

if TYPE_CHECKING:
    from ..parser import Parser

_CLOSERS = {"{": "}", "[": "]", "(": ")"}
_BARE = re.compile(r"[^,\]}<\n]*")
_BARE_IN_PARENTHESES = re.compile(r"[^,)\]}<\n]*")
_BARE_LIMIT = 4096
_LOOKAHEAD = 256
"""Characters of white space behind a quote token that are looked past."""
Step = Literal["key", "value", "after", "string", "json"]


@lru_cache(maxsize=64)
def _key_pattern(quote: str) -> re.Pattern[str]:
    token = re.escape(quote)
    return re.compile(rf"""(?:{token}([^\n]*?){token}|"([^"\n]*)"|'([^'\n]*)'|([^\s:,"'(){{}}\[\]<]+))\s*:""")


class QuotedReader(Reader):
    """Reads the arguments of one call."""

    __slots__ = (
        "_bare",
        "_begun",
        "_key",
        "_key_of",
        "_noted",
        "_parts",
        "_position",
        "_quote",
        "_stack",
        "_step",
        "_types",
        "_value",
    )

    def __init__(self, position: Position) -> None:
        assert isinstance(position.leaf, QuotedArguments)
        self._position = position
        self._quote = position.leaf.quote
        self._key_of = _key_pattern(self._quote)
        self._stack: list[str] = []
        self._step: Step = "value"
        self._begun = False
        self._key = ""
        self._types: frozenset[str] = frozenset()
        self._parts: list[str] | None = None
        self._value: JsonValue | None = None
        self._bare = _BARE
        self._noted = False

    # ---- the reader's contract
    def read(self, parser: "Parser") -> bool:
        if self._step == "string":
            return self._read_string(parser, at_end=False)
        if self._step == "json":
            return self._read_json(parser)
        if not parser.skip_space():
            return False
        character = parser.buffer[parser.at]
        if not self._stack:
            return self._open(parser, character)
        if character == self._stack[-1] and not (self._step == "value" and self._stack[-1] != "]"):
            return self._close(parser)
        if self._step == "after":
            return self._separator(parser, character)
        return self._read_key(parser) if self._step == "key" else self._read_value(parser, character)

    def finish(self, parser: "Parser") -> bool:
        if self._step == "string":
            self._read_string(parser, at_end=True)
        parser.skip(len(parser.buffer))
        return False

    # ---- structure
    def _open(self, parser: "Parser", character: str) -> bool:
        parser.hold()
        if character == "(":
            self._bare = _BARE_IN_PARENTHESES
        self._push(parser, character)
        return True

    def _push(self, parser: "Parser", character: str) -> None:
        self._stack.append(_CLOSERS[character])
        self._step = "value" if character == "[" else "key"
        self._begun = False
        parser.skip(parser.at + 1)

    def _close(self, parser: "Parser") -> bool:
        if not self._certain(parser):
            return True
        closer = self._stack.pop()
        parser.skip(parser.at + 1)
        parser.calls.arguments("]" if closer == "]" else "}")
        self._step = "after"
        self._begun = True
        if not self._stack:
            parser.go(self._position)
        return True

    def _separator(self, parser: "Parser", character: str) -> bool:
        if character != ",":
            return self._broken(parser)
        parser.skip(parser.at + 1)
        self._step = "value" if self._stack[-1] == "]" else "key"
        return True

    def _broken(self, parser: "Parser") -> bool:
        parser.reject("malformed", "the arguments of a call are broken")
        return True

    def _certain(self, parser: "Parser") -> bool:
        """Open the call with its first brace; False: it was a draft that is text now."""
        if not parser.calls.open:
            if not parser.in_call():
                return False
            parser.calls.arguments("{")
        return True

    # ---- keys
    def _read_key(self, parser: "Parser") -> bool:
        match = self._key_of.match(parser.buffer, parser.at)
        if match is None or match.end() - parser.at > NAME_LIMIT:
            return self._broken(parser) if match is not None or len(parser.buffer) - parser.at > NAME_LIMIT else False
        if not self._certain(parser):
            return True
        key = next(group for group in match.groups() if group is not None)
        if len(self._stack) == 1:
            self._begin_argument(parser, key)
        parser.skip(match.end())
        self._comma(parser)
        parser.calls.arguments(f"{quoted(key)}: ")
        self._step = "value"
        return True

    def _begin_argument(self, parser: "Parser", key: str) -> None:
        self._key = key
        tool = parser.calls.tool
        schema = member_of(tool.parameters, tool.parameters, key) if tool is not None else None
        self._types = types_of(schema, tool.parameters) if tool is not None else frozenset()

    def _comma(self, parser: "Parser") -> None:
        if self._begun:
            parser.calls.arguments(", ")
        self._begun = True

    # ---- values
    def _read_value(self, parser: "Parser", character: str) -> bool:
        rest = parser.buffer[parser.at : parser.at + len(self._quote)]
        if rest != self._quote and self._quote.startswith(rest):
            return False
        if rest != self._quote and character not in "{[\"'":
            return self._read_bare(parser)
        if self._stack[-1] == "]":
            self._comma(parser)
        if rest == self._quote:
            self._begin_string(parser)
        elif character in "\"'":
            self._step, self._value = "json", JsonValue()
        else:
            parser.calls.arguments(character)
            self._push(parser, character)
        return True

    def _types_here(self) -> frozenset[str]:
        """What the schema says of this value; nothing of values inside others."""
        return self._types if len(self._stack) == 1 else frozenset()

    def _begin_string(self, parser: "Parser") -> None:
        types = self._types_here()
        parser.skip(parser.at + len(self._quote))
        self._step = "string"
        self._parts = [] if types and "string" not in types else None
        if self._parts is None:
            parser.calls.arguments('"')

    def _read_string(self, parser: "Parser", *, at_end: bool) -> bool:
        match = boundary((self._quote,)).search(parser.buffer, parser.at)
        end = match.start() if match is not None else len(parser.buffer)
        self._take(parser, end, parser.buffer[parser.at : end])
        if match is None or match.group(1) is None:
            return False
        ends = self._ends(parser, end + len(self._quote), at_end=at_end)
        if ends is None:
            return False
        if not ends:
            self._take(parser, end + len(self._quote), '"')
            self._note_quote(parser)
            return True
        parser.skip(end + len(self._quote))
        parser.calls.arguments('"' if self._parts is None else typed("".join(self._parts), self._types))
        self._step = "after"
        return True

    def _note_quote(self, parser: "Parser") -> None:
        if not self._noted:
            parser.notice("repaired", "a quote token inside a string")
        self._noted = True

    def _take(self, parser: "Parser", end: int, text: str) -> None:
        """Consume up to `end`; it is this text of the string."""
        parser.skip(end)
        if self._parts is not None:
            self._parts.append(text)
        else:
            parser.calls.arguments(encode_basestring(text)[1:-1])

    def _ends(self, parser: "Parser", behind: int, *, at_end: bool) -> bool | None:
        """Whether what follows a quote token shows it to be the closing one; None: not enough has arrived to tell."""
        behind = space_end(parser.buffer, behind, behind + _LOOKAHEAD)
        if behind == len(parser.buffer):
            return True if at_end else None
        follow = in_order([",", self._stack[-1], *texts_behind(self._position), *parser.format.stop])
        found = (whole if at_end else boundary)(follow).match(parser.buffer, behind)
        return found is not None if found is None or found.group(1) else None

    def _read_json(self, parser: "Parser") -> bool:
        """A string in JSON's own quotes, or in Python's."""
        value = self._value
        assert value is not None
        parser.skip(value.feed(parser.buffer, parser.at))
        parser.calls.arguments(value.take())
        if value.state is not State.DONE:
            return False
        parser.notice("repaired", "a string in JSON's quotes")
        self._step = "after"
        return True

    def _read_bare(self, parser: "Parser") -> bool:
        match = self._bare.match(parser.buffer, parser.at, parser.at + _BARE_LIMIT)
        end = match.end() if match is not None else parser.at
        if end == len(parser.buffer) and end - parser.at < _BARE_LIMIT:
            return False
        word = parser.buffer[parser.at : end].strip()
        if not word or end - parser.at >= _BARE_LIMIT:
            return self._broken(parser)
        if self._stack[-1] == "]":
            self._comma(parser)
        types = self._types_here()
        value = typed(word, types) if types else as_json_or_text(word)
        if value.startswith('"') and "string" not in types:
            parser.notice("repaired", "a string without its quotes")
        parser.skip(end)
        parser.calls.arguments(value)
        self._step = "after"
        return True
