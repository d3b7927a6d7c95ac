"""Numbers as regular expressions: those that a schema allows and every client can hold, written in a sane length."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from .decimals import NUMBER, decimals
from .integers import LARGEST, Limit, NoNumber, integers
from .multiples import multiples

__all__ = ["NUMBER", "NoNumber", "number_pattern"]


Limits = tuple[Limit, Limit]


def limits(schema: Mapping[str, Any]) -> Limits:
    """The bounds that a schema sets."""
    return _limit(schema, "minimum", "exclusiveMinimum", max), _limit(schema, "maximum", "exclusiveMaximum", min)


def number_pattern(schema: Mapping[str, Any], *, integer: bool) -> tuple[str, bool]:
    """An expression for the numbers of a schema, and whether it holds `multipleOf` too. NoNumber when there is none."""
    low, high = limits(schema)
    step = schema.get("multipleOf")
    if isinstance(step, int | float) and step > 0:
        found = multiples(Decimal(repr(step)), low, high, integer=integer)
        if found is not None:
            return found, True
    held = not _is_number(step)
    if integer:
        least, most = whole_limits((low, high))
        return integers(-LARGEST if least is None else least, LARGEST if most is None else most), held
    return decimals(low, high), held


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


def whole_limits(both: Limits) -> tuple[int | None, int | None]:
    """The least and the most integer between two bounds; None where there is no bound."""
    low, high = both
    least = None if low is None else _rounded(low, "ROUND_CEILING", 1)
    return least, None if high is None else _rounded(high, "ROUND_FLOOR", -1)


def _rounded(limit: tuple[Decimal, bool], rounding: str, inwards: int) -> int:
    value, excluded = limit
    whole = int(value.to_integral_value(rounding=rounding))
    return whole + inwards if excluded and whole == value else whole
