"""Shapes as structural tags, the constraint language of xgrammar (vLLM, SGLang).

The whole turn is one grammar in EBNF inside of the tag. What calls share is written, sent and compiled once: engines prepare such
a grammar many times faster than tags with a schema in each.
"""

import json
from collections.abc import Mapping
from typing import Any, assert_never

from ..errors import ConstraintError
from .avoiding import Alphabet, free_of, telling, unlike, unlike_first
from .ebnf_text import NOTHING, characters, choice, quoted, repeated, row
from .expressions import expression
from .json_rules import JsonRules
from .json_strings import text_rules
from .merging import Never
from .regexes import CLASSES, exact, narrowed, without
from .rules import Rules
from .runs import run, run_before
from .shapes import All, Const, Json, Key, Maybe, OneOf, Pattern, Several, Shape, Text, Thought, Watched, all_of

Tag = dict[str, Any]


def structural_tag(shape: Shape) -> Tag:
    """The whole tag."""
    rules = Rules()
    start = _Writer(rules).expression(shape)
    return _tag(rules.text(start))


def json_tag(schema: Mapping[str, Any]) -> Tag:
    """A tag for one JSON value of a schema; ConstraintError where no value satisfies it."""
    rules = Rules()
    start = JsonRules(rules, schema).whole()
    return _tag(rules.text(start))


def unenforced(schema: Mapping[str, Any]) -> list[str]:
    """The places (`properties.tags.uniqueItems`) whose keywords do not hold while decoding, only in the check behind it."""
    written = JsonRules(Rules(), schema)
    written.whole()
    return [".".join(map(str, path)) for path in dict.fromkeys(written.left)]


def _tag(grammar: str) -> Tag:
    return {"type": "structural_tag", "format": {"type": "grammar", "grammar": grammar}}


class _Writer:
    """Writes shapes as rules of one grammar."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._known: dict[int, tuple[Shape, str]] = {}

    def expression(self, shape: Shape) -> str:
        """EBNF for a shape, as one term or several in a row."""
        match shape:
            case Const(text):
                return quoted(text)
            case Pattern(regex):
                return self._rules.named("pattern", expression(self._rules, exact(regex)))
            case Key(taken):
                letters = without(CLASSES["w"], CLASSES["d"])
                return unlike(self._rules, list(taken), Alphabet(letters, CLASSES["w"]), end=NOTHING)
            case All(parts):
                return row(map(self.expression, parts))
            case Json() | Text() | OneOf() | Maybe() | Several() | Watched() | Thought():
                return self._rule(shape)
            case _:
                assert_never(shape)

    def _rule(self, shape: Json | Text | OneOf | Maybe | Several | Watched | Thought) -> str:
        known = self._known.get(id(shape))
        if known is None:
            known = self._known[id(shape)] = shape, self._composed(shape)
        return known[1]

    def _composed(self, shape: Json | Text | OneOf | Maybe | Several | Watched | Thought) -> str:
        match shape:
            case Json(schema, excludes):
                key = (json.dumps(schema), excludes)
                return self._rules.once(key, lambda: JsonRules(self._rules, schema, excludes).whole())
            case Text():
                return self._text(shape)
            case OneOf(parts):
                return self._rules.named("part", choice(map(self.expression, parts)))
            case Maybe(part):
                return repeated(self.expression(part), 0, 1)
            case Several(part, separator, least):
                return self._several(self.expression(part), separator, least)
            case Watched(rules, once):
                return self._watched({text: self._rules.named("call", self.expression(rest)) for text, rest in rules}, once=once)
            case Thought():
                return self._rules.named("turn", self.expression(_thought(shape)))
            case _:
                assert_never(shape)

    def _several(self, item: str, separator: str, least: int) -> str:
        if not separator:
            return repeated(item, least, None)
        name = self._rules.named("item", item)
        inside = row((name, repeated(row((quoted(separator), name)), 0, None)))
        return self._rules.named("items", inside if least else f"({inside})?")

    def _watched(self, rests: Mapping[str, str], *, once: bool) -> str:
        pairs = "".join(f"({quoted(text)}, {rest}), " for text, rest in rests.items())
        return self._rules.named("free", f"TagDispatch({pairs}loop_after_dispatch={'false' if once else 'true'})")

    def _text(self, shape: Text) -> str:
        """Free text. Of what a schema says about it, an expression comes first, then its length."""
        try:
            said, (low, high), _ = text_rules(shape.schema or {})
        except Never as never:
            raise ConstraintError(f"no value satisfies it: {never}") from None
        if said is not None:
            return self._rules.named("text", expression(self._rules, narrowed(said, telling(shape.excludes))))
        if high is not None:
            return run(self._rules, free_of(shape.excludes), low, high)
        free = self._free(shape.excludes)
        if not low:
            return free
        last = characters(unlike_first(shape.excludes))  # the free text behind it does not know what stood before
        return run_before(self._rules, free_of(shape.excludes), low - 1, row((last, free)))

    def _free(self, texts: tuple[str, ...]) -> str:
        """Text that holds none of these."""
        excludes = "".join(f"{quoted(text)}, " for text in texts)
        dispatch = f"TagDispatch(loop_after_dispatch=false, excludes=({excludes}))"
        return self._rules.named("text", dispatch if excludes else "[^]*")


def _thought(shape: Thought) -> Shape:
    """`then` stands once, because schemas are what makes a tag large: a closer may be missing where a call may interrupt."""
    ended = all_of(shape.text, Maybe(shape.closer) if shape.starts else shape.closer)
    if shape.opener is None:
        return all_of(ended, shape.then)
    return all_of(Maybe(all_of(Const(shape.opener), ended)), shape.then)
