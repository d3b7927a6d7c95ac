"""Multiples of any step, digit by digit: a rule for each remainder and each number of digits that are still to come."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .decimals import PRECISE
from .ebnf_text import NOTHING, characters, quoted, row
from .numbers import limits, whole_limits
from .rules import Rules

MOST_RULES, FEWEST_DIGITS = 1000, 9
"""How many rules say the multiples of one step, and how many digits they must be enough for."""


def multiple_of(rules: Rules, schema: Mapping[str, Any], *, integer: bool) -> str | None:
    """The rule for the multiples that a schema asks for, within its bounds; None where it takes too many rules."""
    step, both = schema.get("multipleOf"), limits(schema)
    if isinstance(step, bool) or not isinstance(step, int | float) or step <= 0:
        return None
    multiples = Multiples(rules, Decimal(repr(step)), integer=integer)
    if multiples.places and both not in ((None, None), ((Decimal(0), False), None)):
        return None
    return multiples.between(*whole_limits(both))


class Multiples:
    """Writes the multiples of one step. `integer`: those that are whole."""

    def __init__(self, rules: Rules, step: Decimal, *, integer: bool) -> None:
        self._rules = rules
        self._integer = integer
        self.places = 0 if integer else max(0, -int(step.normalize().as_tuple().exponent))
        """Digits behind the point."""
        self._step = Fraction(step).numerator if integer else int(step * 10**self.places)
        self._known: dict[tuple[int, int], str | None] = {}

    @property
    def _digits(self) -> int:
        """How many digits of an integer part can be said."""
        told = self._step  # factors of ten are told by the last digits alone
        for factor in (2, 5):
            while told % factor == 0:
                told //= factor
        return min(PRECISE, MOST_RULES // told)

    def between(self, low: int | None, high: int | None) -> str | None:
        """Those from one integer to another, None: as far as they can be written. None where there are too many rules to it.
        With digits behind the point the bounds are zero or none."""
        largest = 10**self._digits - 1
        if self._digits < FEWEST_DIGITS or max(abs(low or 0), abs(high or 0)) > largest:
            return None
        low, high = -largest if low is None else low, largest if high is None else high
        ways: list[str | None] = [*self._negative(low, high)]
        ways += [self._whole("0", 0)] if low <= 0 <= high else []
        ways += [self._whole(head, left) for head, left in spans(max(1, low), high)]
        found = [way for way in ways if way is not None]
        return self._rules.named("multiple", " | ".join(found)) if found else None

    def _negative(self, low: int, high: int) -> Iterator[str]:
        zero = [("0", 0)] if self.places and low < 0 <= high else []
        for head, left in (*zero, *spans(max(1, -high), -low)):
            if (way := self._whole(head, left)) is not None:
                yield row((quoted("-"), way))

    def _whole(self, head: str, left: int) -> str | None:
        """Numbers whose integer part begins so, with so many digits to come."""
        tail = self._tail(int(head) * 10 ** (left + self.places) % self._step, left)
        return None if tail is None else row((quoted(head), tail))

    def _tail(self, remainder: int, left: int) -> str | None:
        """What may follow where so many digits of the integer part are to come; None where nothing makes a multiple of it."""
        if left:
            return self._digit(remainder, left + self.places, lambda rest: self._tail(rest, left - 1))
        ways = [] if remainder else [NOTHING]
        if self.places and (fraction := self._fraction(remainder, self.places)) is not None:
            ways.append(row((quoted("."), fraction)))
        elif not (self._integer or remainder or self.places):
            ways.append(quoted(".0"))
        return None if not ways else ways[0] if len(ways) == 1 else self._rules.named("end", " | ".join(ways))

    def _fraction(self, remainder: int, left: int) -> str | None:
        """One digit behind the point or more, up to so many."""

        def behind(rest: int) -> str | None:
            more = self._fraction(rest, left - 1) if left > 1 else None
            ways = [*([] if rest else [NOTHING]), *([more] if more is not None else [])]
            return None if not ways else ways[0] if len(ways) == 1 else self._rules.named("end", " | ".join(ways))

        return self._digit(remainder, left, behind)

    def _digit(self, remainder: int, place: int, then: Callable[[int], str | None]) -> str | None:
        """One digit at a place, and what follows it: what a number lacks to a multiple is all that rules must know of it."""
        key = (remainder, place)
        if key not in self._known:
            targets: dict[str, list[str]] = {}
            for digit in range(10):
                tail = then((remainder + digit * 10 ** (place - 1)) % self._step)
                if tail is not None:
                    targets.setdefault(tail, []).append(str(digit))
            ways = [row((characters(tuple((ord(each), ord(each)) for each in some)), tail)) for tail, some in targets.items()]
            self._known[key] = self._rules.named("digits", " | ".join(ways)) if ways else None
        return self._known[key]


def spans(low: int, high: int) -> Iterator[tuple[str, int]]:
    """The positive integers from one to another, as beginnings with so many digits of any kind behind."""
    while low <= high:
        left = 0
        while low % 10 ** (left + 1) == 0 and low + 10 ** (left + 1) - 1 <= high:
            left += 1
        yield str(low // 10**left), left
        low += 10**left
