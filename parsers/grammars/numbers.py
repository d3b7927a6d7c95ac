"""Numbers as regular expressions: those that a schema allows and every client can hold, written in a sane length."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

LARGEST = 9 * 10**18 - 1
"""The largest integer that is written where a schema sets no limit; it fits into 64 bits."""
MOST_DIGITS, PRECISE = 17, 15
"""How many digits of a fraction are written, and how many digits of a number every double tells apart."""
MOST_LISTED, MOST_PARTS = 300, 64
"""How many multiples are written out one by one: in all, and between two integers."""
_FRACTION = r"(\.[0-9]{1,20})?"
_EXPONENT = "([eE](-([0-9]{1,2}|[12][0-9]{2})|[+]?[0-9]{1,2}))?"
_INTEGER_PART = "(0|[1-9][0-9]{0,18})"
UNSIGNED = f"({_INTEGER_PART}{_FRACTION}{_EXPONENT}|[1-9]{_FRACTION}[eE][+]?[12][0-9]{{2}})"
"""Any number without a sign below 1e300."""
NUMBER = f"-?{UNSIGNED}"
_NONZERO = rf"([1-9][0-9]{{0,18}}{_FRACTION}|0\.0{{0,15}}[1-9][0-9]{{0,16}}){_EXPONENT}"
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


class NoNumber(ValueError):
    """No number satisfies the schema."""


def number_pattern(schema: Mapping[str, Any], *, integer: bool) -> tuple[str, bool]:
    """An expression for the numbers of a schema, and whether it holds `multipleOf` too. NoNumber when there is none."""
    low, high = _limit(schema, "minimum", "exclusiveMinimum", max), _limit(schema, "maximum", "exclusiveMaximum", min)
    step = schema.get("multipleOf")
    if isinstance(step, int | float) and step > 0:
        found = _multiples(Decimal(repr(step)), low, high, integer=integer)
        if found is not None:
            return found, True
    held = not _is_number(step)
    if integer:
        return integers(_whole_low(low), _whole_high(high)), held
    return _decimals(low, high), held


Limit = tuple[Decimal, bool] | None
"""A bound, and whether it is itself excluded."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _limit(schema: Mapping[str, Any], inclusive: str, exclusive: str, stricter: Any) -> Limit:
    """The stricter of the two bounds; drafts up to 4 say with a boolean that the first is excluded."""
    found: list[tuple[Decimal, bool]] = []
    if _is_number(schema.get(inclusive)):
        found.append((Decimal(repr(schema[inclusive])), schema.get(exclusive) is True))
    if _is_number(schema.get(exclusive)):
        found.append((Decimal(repr(schema[exclusive])), True))
    if not found:
        return None
    edge = stricter(value for value, _ in found)
    return edge, any(excluded for value, excluded in found if value == edge)


def _whole_low(limit: Limit) -> int:
    if limit is None:
        return -LARGEST
    value, excluded = limit
    least = int(value.to_integral_value(rounding="ROUND_CEILING"))
    return least + 1 if excluded and least == value else least


def _whole_high(limit: Limit) -> int:
    if limit is None:
        return LARGEST
    value, excluded = limit
    most = int(value.to_integral_value(rounding="ROUND_FLOOR"))
    return most - 1 if excluded and most == value else most


# ---- integers
def integers(low: int, high: int) -> str:
    """The integers from `low` to `high`, as far as they fit into 64 bits."""
    low, high = max(low, -LARGEST), min(high, LARGEST)
    if low > high:
        raise NoNumber("no integer of 64 bits lies between the bounds")
    ways = []
    if low < 0:
        ways.append(f"-{_between(max(1, -high), -low)}")
    if low <= 0 <= high:
        ways.append("0")
    if high > 0:
        ways.append(_between(max(1, low), high))
    return _either(ways)


def _between(low: int, high: int) -> str:
    """Positive integers from `low` to `high`, by their number of digits; runs of whole lengths are one alternative."""
    first, last = len(str(low)), len(str(high))
    if first == last:
        return _either(_same_length(str(low), str(high)))
    ways, from_length = [], first
    if low != 10 ** (first - 1):
        ways += _same_length(str(low), "9" * first)
        from_length += 1
    to_length = last if high == 10**last - 1 else last - 1
    if from_length <= to_length:
        ways.append(f"[1-9][0-9]{{{from_length - 1},{to_length - 1}}}")
    if to_length < last:
        ways += _same_length("1" + "0" * (last - 1), str(high))
    return _either(ways)


def _same_length(low: str, high: str) -> list[str]:
    """Digits between two texts of one length."""
    if not low:
        return [""]
    if set(low) == {"0"} and set(high) == {"9"}:
        return [f"[0-9]{{{len(low)}}}"]
    if low[0] == high[0]:
        return [low[0] + _either(_same_length(low[1:], high[1:]))]
    rest = len(low) - 1
    start, end, ways = int(low[0]), int(high[0]), []
    if set(low[1:]) - {"0"}:
        ways.append(low[0] + _either(_same_length(low[1:], "9" * rest)))
        start += 1
    last = []
    if set(high[1:]) - {"9"}:
        last.append(high[0] + _either(_same_length("0" * rest, high[1:])))
        end -= 1
    if start <= end:
        digit = f"[{start}-{end}]" if start < end else str(start)
        ways.append(digit + (f"[0-9]{{{rest}}}" if rest else ""))
    return ways + last


def _either(ways: list[str]) -> str:
    return ways[0] if len(ways) == 1 else f"({'|'.join(ways)})"


# ---- decimals
def _decimals(low: Limit, high: Limit) -> str:
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
    return _either(ways)


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
    return _either(ways)


def _small(most: Decimal) -> list[str]:
    """Numbers with a negative exponent that are surely below a bound: ten to the power of one less is at most this bound."""
    power = max(1, 1 - most.adjusted())
    if power > 99:
        return []
    two = _between(max(power, 10), 99)
    exponent = f"(0?{_between(power, 9)}|{two})" if power < 10 else two
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
        ways.append(_between(low_int + 1, last) + _optional(MOST_DIGITS))
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
    return [*whole, *([rf"{integer}\.{_either(ways)}"] if ways else [])]


def _after(digit: str, digits: Digits) -> list[str]:
    ways, none = digits
    return [*([digit] if none else []), *([digit + _either(ways)] if ways else [])]


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


# ---- multiples
def _multiples(step: Decimal, low: Limit, high: Limit, *, integer: bool) -> str | None:
    """Multiples of a step; None where no short expression says them."""
    if low is not None and high is not None:
        return _listed(step, low, high, integer=integer)
    from_zero = low is not None and low[0] == 0
    from_one = low is not None and low[0] == 1 and not low[1] and step >= 1
    if high is not None or not (low is None or from_zero or from_one):
        return None
    above = _whole_steps(step) if step == step.to_integral_value() else _parts_of_one(step)
    if above is None or (integer and step < 1):
        return None
    point = "" if integer or step < 1 else r"(\.0)?"
    if low is None:
        return f"(0|-?{above}){point}"
    return f"{above}{point}" if from_one or low[1] else f"(0|{above}){point}"


def _whole_steps(step: Decimal) -> str | None:
    """Positive multiples of a divisor of 10, 100, 1000 or 10000, told by their last digits."""
    cycle = next((power for power in range(5) if Decimal(10) ** power % step == 0), None)
    if cycle is None:
        return None
    tails = [str(value).zfill(cycle) for value in range(0, 10**cycle, int(step))] if cycle else [""]
    short = [tail.lstrip("0") for tail in tails if tail.strip("0")]
    return _either([*short, f"[1-9][0-9]{{0,{PRECISE - 1 - cycle}}}{_either(tails)}"])


def _parts_of_one(step: Decimal) -> str | None:
    """Positive multiples of a step that one is a multiple of."""
    count = Decimal(1) / step
    places = -int(step.normalize().as_tuple().exponent)
    if count != count.to_integral_value() or (count > MOST_PARTS and count != Decimal(10) ** places):
        return None
    if count == Decimal(10) ** places:
        some = [f"[0-9]{{{before}}}[1-9][0-9]{{0,{places - before - 1}}}" for before in range(places)]
        return _either([rf"[1-9][0-9]{{0,{PRECISE - 7}}}(\.[0-9]{{1,{places}}})?", rf"0\.{_either(some)}"])
    parts = [f"{part * step:f}".partition(".")[2].rstrip("0") for part in range(1, int(count))]
    tail = rf"\.({'|'.join(parts)})"
    return _either([rf"[1-9][0-9]{{0,{PRECISE - 7}}}(\.0|{tail})?", f"0{tail}"])


def _listed(step: Decimal, low: tuple[Decimal, bool], high: tuple[Decimal, bool], *, integer: bool) -> str | None:
    first = int((low[0] / step).to_integral_value(rounding="ROUND_CEILING"))
    last = int((high[0] / step).to_integral_value(rounding="ROUND_FLOOR"))
    first += low[1] and first * step == low[0]
    last -= high[1] and last * step == high[0]
    if last - first >= MOST_LISTED:
        return None
    values = [value * step for value in range(first, last + 1)]
    texts = [f"{value.normalize():f}" for value in values if not integer or value == value.to_integral_value()]
    if not texts:
        raise NoNumber(f"no multiple of {step} lies between {low[0]} and {high[0]}")
    return _either([text.replace(".", r"\.") for text in texts])
