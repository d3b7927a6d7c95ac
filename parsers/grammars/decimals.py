"""Ranges of numbers as regular expressions: as decimals, and with exponents where a side is free or zero."""

from dataclasses import dataclass
from decimal import Decimal

from .integers import Limit, NoNumber, between, either

MOST_DIGITS, PRECISE = 17, 15
"""How many digits of a fraction are written, and how many digits of a number every double tells apart."""
_FRACTION = r"(\.[0-9]{1,20})?"
_EXPONENT = "([eE](-([0-9]{1,2}|[12][0-9]{2})|[+]?[0-9]{1,2}))?"
_INTEGER_PART = "(0|[1-9][0-9]{0,18})"
UNSIGNED = f"({_INTEGER_PART}{_FRACTION}{_EXPONENT}|[1-9]{_FRACTION}[eE][+]?[12][0-9]{{2}})"
"""Any number without a sign below 1e300."""
NUMBER = f"-?{UNSIGNED}"
_NONZERO = rf"([1-9][0-9]{{0,18}}{_FRACTION}|0\.0{{0,15}}[1-9][0-9]{{0,16}}){_EXPONENT}"


def decimals(low: Limit, high: Limit) -> str:
    """Numbers between two bounds. Where a side is free, or zero, exponents may be written."""
    if low is not None and high is not None and (low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1]))):
        raise NoNumber(f"no number lies between {low[0]} and {high[0]}")
    if low is None and high is None:
        return NUMBER
    ways = []
    if low is None or low[0] < 0:
        ways.append(f"-{_positive(_negated(high if high is not None and high[0] <= 0 else None), _negated(low))}")
    if not (_excludes_zero(low, below=True) or _excludes_zero(high, below=False)):
        ways.append(r"-?0(\.0{1,3})?" if low is None or low[0] < 0 else r"0(\.0{1,3})?")
    if high is None or high[0] > 0:
        ways.append(_positive(low if low is not None and low[0] >= 0 else None, high))
    return either(ways)


def _negated(limit: Limit) -> Limit:
    return None if limit is None else (-limit[0], limit[1])


def _excludes_zero(limit: Limit, *, below: bool) -> bool:
    if limit is None:
        return False
    value, excluded = limit
    return (value > 0 if below else value < 0) or (value == 0 and excluded)


def _positive(low: Limit, high: Limit) -> str:
    """Numbers above zero between two bounds that are not below it."""
    from_zero = low is None or low[0] == 0
    if from_zero and high is None:
        return f"({_NONZERO}|[1-9]{_FRACTION}[eE][+]?[12][0-9]{{2}})"
    least = (Decimal(0), True) if from_zero or low is None else low
    most = (Decimal(10**19 if least[0] < 10**18 else int(least[0]) * 10), True) if high is None else high
    ways = _plain(least, most)
    if from_zero:
        ways += _small(most[0] / 10 if most[1] else most[0])
    if not ways:
        raise NoNumber("no number lies between the bounds")
    return either(ways)


def _small(most: Decimal) -> list[str]:
    """Numbers with a negative exponent that are surely below a bound: ten to the power of one less is at most this bound."""
    power = max(1, 1 - most.adjusted())
    if power > 99:
        return []
    two = between(max(power, 10), 99)
    exponent = f"(0?{between(power, 9)}|{two})" if power < 10 else two
    return [rf"[1-9](\.[0-9]{{1,{MOST_DIGITS}}})?[eE]-{exponent}"]


def _split(value: Decimal) -> tuple[int, str]:
    """Integer part, and the digits of the fraction without zeros at their end."""
    integer, _, fraction = f"{value:f}".partition(".")
    return int(integer), fraction.rstrip("0")


def _plain(low: tuple[Decimal, bool], high: tuple[Decimal, bool]) -> list[str]:
    """Positive numbers without exponent."""
    (low_int, low_frac), (high_int, high_frac) = _split(low[0]), _split(high[0])
    low_out = low[1] and low[0] != 0  # a number is not rounded onto zero
    below = _Fractions(_room(high_int, excluded=high[1]))
    if low_int == high_int:
        both = _Fractions(_room(high_int, excluded=low_out or high[1]))
        return _with_fraction(low_int, both.between((low_frac, low[1]), (high_frac, high[1])))
    touches = high[1] and low_int == high_int - 1
    ways = _with_fraction(
        low_int, _Fractions(_room(high_int if touches else low_int, excluded=low_out or touches)).above(low_frac, excluded=low[1])
    )
    last = high_int - 2 if high[1] else high_int - 1
    if low_int < last:
        ways.append(between(low_int + 1, last) + _optional(MOST_DIGITS))
    if low_int < high_int - 1 and high[1]:
        ways.append(str(high_int - 1) + _optional(below.room))
    return ways + _with_fraction(high_int, below.below(high_frac, excluded=high[1]))


def _room(integer: int, *, excluded: bool) -> int:
    """How many digits may follow an integer's. Beside an excluded bound more would be rounded onto it."""
    return max(0, PRECISE - len(str(integer))) if excluded else MOST_DIGITS


def _optional(digits: int) -> str:
    return rf"(\.[0-9]{{1,{digits}}})?" if digits else ""


Digits = tuple[list[str], bool]
"""Expressions for the digits of a fraction, and whether there may be none."""


def _with_fraction(integer: int, digits: Digits) -> list[str]:
    ways, none = digits
    whole = [str(integer)] if none else []
    return [*whole, *([rf"{integer}\.{either(ways)}"] if ways else [])]


def _after(digit: str, digits: Digits) -> list[str]:
    ways, none = digits
    return [*([digit] if none else []), *([digit + either(ways)] if ways else [])]


@dataclass(frozen=True, slots=True)
class _Fractions:
    """Digits of fractions beside an integer that leaves `room` for them."""

    room: int

    def _zeros(self) -> list[str]:
        return [f"0{{1,{self.room}}}"] if self.room > 0 else []

    def _digit(self, low: int, high: int) -> list[str]:
        if low > high:
            return []
        return [(str(low) if low == high else f"[{low}-{high}]") + (f"[0-9]{{0,{self.room - 1}}}" if self.room > 1 else "")]

    def _inside(self) -> "_Fractions":
        return _Fractions(self.room - 1)

    def above(self, fraction: str, *, excluded: bool) -> Digits:
        """Those that are at least this one, or more."""
        if not fraction and not excluded:
            return ([f"[0-9]{{1,{self.room}}}"] if self.room > 0 else []), True
        if not fraction:
            room = self.room
            return ([f"0{{0,{room - 2}}}[1-9][0-9]{{0,{room - 1}}}"] if room > 2 else ["[1-9]"] if room > 0 else []), False
        first = int(fraction[0])
        inner = self._inside().above(fraction[1:], excluded=excluded)
        return [*self._digit(first + 1, 9), *_after(fraction[0], inner)], False

    def below(self, fraction: str, *, excluded: bool) -> Digits:
        """Those that are at most this one, or less."""
        if not fraction:
            return ([], False) if excluded else (self._zeros(), True)
        first = int(fraction[0])
        inner = self._inside().below(fraction[1:], excluded=excluded)
        return [*self._digit(0, first - 1), *_after(fraction[0], inner)], True

    def between(self, low: tuple[str, bool], high: tuple[str, bool]) -> Digits:
        """Those between two."""
        (low_text, low_out), (high_text, high_out) = low, high
        if not high_text:  # then both are zero, and neither is excluded
            return self._zeros(), True
        first, last = int(low_text[:1] or "0"), int(high_text[0])
        none = not low_text and not low_out
        inside = self._inside()
        if first == last:
            return _after(str(first), inside.between((low_text[1:], low_out), (high_text[1:], high_out))), none
        ways = _after(str(first), inside.above(low_text[1:], excluded=low_out))
        return [
            *ways,
            *self._digit(first + 1, last - 1),
            *_after(str(last), inside.below(high_text[1:], excluded=high_out)),
        ], none
