"""Shapes as Lark text, the constraint language of llguidance (llama.cpp, guidance backends).

Free text ends where a text begins that may not be in it. llguidance's lexer never looks back, so that text is part of the
lexeme (`[lazy]`: it ends as early as it can), and what follows is the shape behind that text.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from ..errors import ConstraintError
from .avoiding import telling
from .finite import finite
from .formats import FORMATS
from .lark_excluding import excluding
from .lark_json import json_shape
from .lark_schema import schema_for_llguidance
from .shapes import (
    All,
    Const,
    Json,
    Key,
    Maybe,
    OneOf,
    Pattern,
    Several,
    Shape,
    Text,
    Thought,
    Watched,
    after_text,
    all_of,
    one_of,
)

KEY = "/[a-zA-Z_][a-zA-Z0-9_]*/"
SHORTHANDS = {"d": "[0-9]", "D": "[^0-9]", "w": "[A-Za-z0-9_]", "W": "[^A-Za-z0-9_]", "s": r"[ \t\n\r]", "S": r"[^\s\x{FEFF}]"}
"""What these mean in a schema; to llguidance they are of all scripts."""
SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$/]")


def lark(shape: Shape) -> str:
    """The whole grammar; its first rule is `start`."""
    writer = _Writer()
    start = writer.expression(shape)
    return "".join(f"{line}\n" for line in (f"start: {start}", *writer.lines))


class _Writer:
    """Collects the rules. A shape that occurs twice is written once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[str, str] = {}
        self._schemas: dict[str, str] = {}
        self._rules: dict[int, tuple[Shape, str]] = {}

    # ---- shapes
    def expression(self, shape: Shape) -> str:
        """Lark for a shape, as an expression that may stand anywhere."""
        match shape:
            case Const(text):
                return literals(text)
            case Json(schema, excludes):
                schema = excluding(schema, excludes)
                if not finite(schema, schema):
                    raise ConstraintError("no value satisfies it: it must hold itself, without end")
                if not isinstance(written := json_shape(schema), Json):
                    return self._known(schema, written)
                return self._named("json", f"%json {json.dumps(schema_for_llguidance(schema), ensure_ascii=False)}")
            case Text():
                return self._named("TEXT", self._body(shape))
            case Pattern(regex):
                return self._named("PATTERN", f"/{regex}/")
            case Key(taken):
                return self._named("KEY", " & ".join((KEY, *(f"~/({'|'.join(map(escaped, taken))})/" for _ in taken[:1]))))
            case All(parts):
                return self._sequence(parts)
            case OneOf() | Maybe() | Several() | Watched() | Thought():
                return self._rule(shape)
            case _:
                assert_never(shape)

    def _known(self, schema: Mapping[str, Any], written: Shape) -> str:
        """The rule of a schema that is written out; it has its name before its body, which may mean it."""
        text = json.dumps(schema)
        if text not in self._schemas:
            name = self._schemas[text] = f"value_{len(self._schemas)}"
            self.lines.append(f"{name}: {self.expression(written)}")
        return self._schemas[text]

    def _rule(self, shape: OneOf | Maybe | Several | Watched | Thought) -> str:
        known = self._rules.get(id(shape))
        if known is None:
            known = self._rules[id(shape)] = shape, self._named("part", self._composed(shape))
        return known[1]

    def _composed(self, shape: OneOf | Maybe | Several | Watched | Thought) -> str:
        match shape:
            case OneOf(parts):
                return " | ".join(self.expression(part) for part in parts)
            case Maybe(part):
                return f"({self.expression(part)})?"
            case Several(part, separator, least):
                item = self.expression(part)
                separated = _joined(literals(separator), item)
                return f"{item} ({separated})*" if least else f"({item} ({separated})*)?"
            case Watched():
                return self._watched(shape)
            case Thought():
                return self._thought(shape)
            case _:
                assert_never(shape)

    def _sequence(self, parts: tuple[Shape, ...]) -> str:
        for at, part in enumerate(parts):
            if isinstance(part, Text):
                return _joined(*map(self.expression, parts[:at]), self._ended(part, parts[at + 1 :]))
            if isinstance(part, OneOf) and any(map(_is_open, part.parts)):
                closed = one_of(*(all_of(way, *parts[at + 1 : at + 2]) for way in part.parts))
                return _joined(*map(self.expression, parts[:at]), self.expression(closed), self._sequence(parts[at + 2 :]))
        return _joined(*(self.expression(part) for part in parts))

    def _ended(self, text: Text, rest: tuple[Shape, ...]) -> str:
        """Free text up to what ends it, and what follows."""
        if not rest:
            return self.expression(text)
        first = rest[0]
        if not isinstance(first, Const):
            raise ConstraintError("free text that no fixed text ends cannot be constrained")
        return _joined(self._until(text, first.text), self._sequence(rest[1:]))

    def _thought(self, shape: Thought) -> str:
        then = self.expression(shape.then)
        ways = [_joined(self._until(shape.text, closer + shape.after), then) for closer in shape.closers]
        for start in shape.starts:
            follows = after_text(shape.then, start)
            if follows is not None:
                ways.append(_joined(self._until(shape.text, start), self.expression(follows)))
        if shape.opener is None:
            return " | ".join(ways)
        return f"{quoted(shape.opener)} ({' | '.join(ways)}) | {then}"

    def _watched(self, shape: Watched) -> str:
        """Free text, and the rules for the texts that it watches."""
        anything = any_text()
        first = any_text(barred=shape.barred)
        rests = {text: self.expression(rest) for text, rest in shape.rules}

        def calls(body: str) -> str:
            return " | ".join(_joined(self._lazy(body, text), rest) for text, rest in rests.items())

        if shape.once:
            return f"{calls(first)} | {self._named('TEXT', first)}"
        free = f"({calls(anything)})* {self._named('TEXT', anything)}"
        return f"({calls(first)}) {free} | {self._named('TEXT', first)}" if shape.barred else free

    # ---- terminals
    def _body(self, text: Text) -> str:
        """A terminal's expression for free text."""
        return any_text(text.excludes, schema=text.schema)

    def _until(self, text: Text, end: str) -> str:
        return self._lazy(self._body(text), end)

    def _lazy(self, body: str, end: str) -> str:
        return self._named("until", f"{self._named('TEXT', body)} {quoted(end)}", option="[lazy]")

    def _named(self, kind: str, body: str, option: str = "") -> str:
        """The name of the rule or terminal with this body."""
        name = self._names.get(body)
        if name is None:
            name = self._names[body] = f"{kind}_{len(self._names)}"
            self.lines.append(f"{name}{option}: {body}")
        return name


def any_text(excludes: Iterable[str] = (), *, schema: Mapping[str, Any] | None = None, barred: Iterable[str] = ()) -> str:
    """A terminal's expression for text without `excludes`, that does not begin with `barred`, and is as a string schema says."""
    parts = ["/(?s:.*)/"]
    if schema is not None:
        parts = [_counted(schema, tuple(excludes))]
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and (search := searching(pattern)) is not None:
            parts.append(f"/{search}/")
        form = schema.get("format")
        if isinstance(form, str) and form in FORMATS:
            parts.append(f"/{FORMATS[form].replace('/', chr(92) + '/')}/")
    if texts := "|".join(map(escaped, excludes)):
        parts.append(f"~/(?s:.*)({texts})(?s:.*)/")
    if texts := "|".join(map(escaped, barred)):
        parts.append(f"~/[ \\t\\r\\n]*({texts})(?s:.*)/")
    return " & ".join(parts)


def _counted(schema: Mapping[str, Any], excludes: tuple[str, ...]) -> str:
    """So many characters. Where there is a most of them, none begins what they must not hold: each place at which an end may have
    begun would be counted on from, until llguidance gives up."""
    least, most = schema.get("minLength", 0), schema.get("maxLength", "")
    letters = "".join(map(escaped, sorted(telling(excludes)))) if most != "" else ""
    return f"/(?s:{f'[^{letters}]' if letters else '.'}{{{least},{most}}})/"


def searching(pattern: str) -> str | None:
    """A regular expression that matches a whole text which holds this one; None for what llguidance cannot read."""
    try:
        re.compile(pattern)
    except re.error:
        return None
    if re.search(r"\(\?[=!<P]|\\[1-9bBAZzGkpP]", pattern):
        return None
    anchored_start, anchored_end = pattern.startswith("^"), pattern.endswith("$") and not pattern.endswith("\\$")
    inner = pattern[anchored_start : len(pattern) - anchored_end]
    if re.search(r"(?<!\\)(?:\\\\)*[$]|(?<![\\\[])(?:\\\\)*\^", inner):
        return None
    inner = re.sub(r"(?<!\\)((?:\\\\)*)/", r"\1\\/", inner).replace("\n", "\\n")
    inner = re.sub(r"\\(.)", lambda escape: SHORTHANDS.get(escape[1], escape[0]), inner)
    return f"{'' if anchored_start else '(?s:.*)'}({inner}){'' if anchored_end else '(?s:.*)'}"


def escaped(text: str) -> str:
    """A regular expression for exactly this text."""
    return SPECIAL.sub(r"\\\g<0>", text).replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def _is_open(shape: Shape) -> bool:
    """Whether a shape ends with free text, so that its end is what follows."""
    match shape:
        case Text():
            return True
        case All(parts) if parts:
            return _is_open(parts[-1])
        case OneOf(parts):
            return any(map(_is_open, parts))
        case _:
            return False


def _joined(*expressions: str) -> str:
    """One after the other."""
    return " ".join(each for each in expressions if each != '""') or '""'


def literals(text: str) -> str:
    """Literals for a text. Lines stand apart: of two literals that may come next none may begin with the other."""
    return " ".join(map(quoted, re.findall(r"\n|[^\n]+", text))) or '""'


def quoted(text: str) -> str:
    """A literal for exactly this text."""
    return json.dumps(text, ensure_ascii=False)
