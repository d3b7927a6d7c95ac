"""JSON strings in EBNF: any, of a pattern or format, of a length."""

from collections.abc import Mapping
from typing import Any

from .avoiding import avoiding, free_of, telling
from .ebnf_text import PLAIN, characters, quoted, row
from .expressions import expression
from .formats import FORMATS, UNSAID
from .merging import Never
from .regexes import Regex, Repeated, Row, UnreadableRegex, exact, in_json, narrowed, whole, width, without
from .rules import Rules
from .runs import MOST, run, run_before

ESCAPE = '(["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})'
ALONE = '(["\\\\/bfnrt] | "u" ([0-9a-cA-Ce-fE-F] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2}))'
"""Escapes of whole characters: two escaped halves of one would be counted as two."""
STRING_RULES = ("pattern", "format", "minLength", "maxLength")


def text_rules(schema: Mapping[str, Any]) -> tuple[Regex | None, tuple[int, int | None], list[str]]:
    """What a schema says of a string: an expression, else its lengths; and the keywords that neither says. Never where no text
    has such a length."""
    low, high = _count(schema.get("minLength")) or 0, _count(schema.get("maxLength"))
    if high is not None and low > high:
        raise Never(f"minLength {low} is greater than maxLength {high}", ())
    said, left = _expression(schema)
    if said is None:
        left += [key for key, count in (("minLength", low), ("maxLength", high)) if count is not None and count > MOST]
        return None, (low if low <= MOST else 0, high if high is None or high <= MOST else None), left
    fitting = fitted(said, low, high)
    if fitting is None:
        left += [key for key in ("minLength", "maxLength") if key in schema]
    return fitting or said, (0, None), left


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _expression(schema: Mapping[str, Any]) -> tuple[Regex | None, list[str]]:
    """The pattern, else the format."""
    left: list[str] = []
    pattern, form = schema.get("pattern"), schema.get("format")
    known = isinstance(form, str) and form in FORMATS
    if isinstance(form, str) and form in UNSAID:
        left.append("format")
    if isinstance(pattern, str):
        try:
            return whole(pattern), left + (["format"] if known else [])
        except UnreadableRegex:
            left.append("pattern")
    return exact(FORMATS[form]) if known and isinstance(form, str) else None, left


def fitted(node: Regex, low: int, high: int | None) -> Regex | None:
    """The expression for matches of these lengths: as it is, or with its endless part shortened; None when neither will do."""
    least, most = width(node)
    if least >= low and (high is None or (most is not None and most <= high)):
        return node
    if not isinstance(node, Row):
        return fitted(Row((node,)), low, high) if isinstance(node, Repeated) else None
    endless = [at for at, part in enumerate(node.parts) if width(part)[1] is None]
    if len(endless) != 1 or not isinstance(part := node.parts[endless[0]], Repeated) or width(part.part) != (1, 1):
        return None
    others = [width(other) for at, other in enumerate(node.parts) if at != endless[0]]
    bottom = max(part.least, low - sum(fewest for fewest, _ in others))
    top = None if high is None else high - sum(most or 0 for _, most in others)
    if top is not None and top < bottom:
        return None
    return Row((*node.parts[: endless[0]], Repeated(part.part, bottom, top), *node.parts[endless[0] + 1 :]))


class Strings:
    """Writes strings that hold none of some texts, which would end the value around them."""

    def __init__(self, rules: Rules, excludes: tuple[str, ...]) -> None:
        self._rules = rules
        self._excludes = excludes
        self._banned = telling(excludes)
        self._any = ""
        self.plain = without(PLAIN, tuple((ord(each), ord(each)) for each in sorted(self._banned)))
        """Characters that need no escape."""

    def any(self) -> str:
        """Any string."""
        if not self._any:
            self._any = self._rules.named("string", row((quoted('"'), self._rest())))
        return self._any

    def key(self) -> str:
        """A key without escapes, so that it has but one spelling."""
        return row((quoted('"'), f"{characters(self.plain)}*", quoted('"')))

    def narrowed(self, node: Regex) -> Regex:
        """An expression without what ends the value."""
        return narrowed(node, self._banned)

    def of(self, schema: Mapping[str, Any]) -> tuple[str, list[str]]:
        """A string of a schema, and the keywords that it does not hold."""
        said, (low, high), left = text_rules(schema)
        if said is not None:
            try:
                inside = expression(self._rules, in_json(self.narrowed(said)))
                return self._rules.named("string", row((quoted('"'), inside, quoted('"')))), left
            except UnreadableRegex:
                return self.any(), [key for key in STRING_RULES if key in schema]
        if not low and high is None:
            return self.any(), left
        return self._rules.named("string", row((quoted('"'), self._counted(low, high)))), left

    def _counted(self, low: int, high: int | None) -> str:
        """So many characters, and the quote behind them."""
        kind = free_of(self._excludes, escape=ALONE)
        if high is None:
            return run_before(self._rules, kind, low, self._rest())
        return row((run(self._rules, kind, low, high), quoted('"')))

    def _rest(self) -> str:
        """Any characters, and the quote behind them."""
        return avoiding(self._rules, self._excludes, end=quoted('"'), escape=ESCAPE)
