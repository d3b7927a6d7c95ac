"""Ranges of integers as regular expressions."""

from decimal import Decimal

LARGEST = 9 * 10**18 - 1
"""The largest integer that is written where a schema sets no limit; it fits into 64 bits."""
Limit = tuple[Decimal, bool] | None
"""A bound, and whether it is itself excluded."""


class NoNumber(ValueError):
    """No number satisfies the schema."""


def integers(low: int, high: int) -> str:
    """The integers from `low` to `high`, as far as they fit into 64 bits."""
    low, high = max(low, -LARGEST), min(high, LARGEST)
    if low > high:
        raise NoNumber("no integer of 64 bits lies between the bounds")
    ways = []
    if low < 0:
        ways.append(f"-{between(max(1, -high), -low)}")
    if low <= 0 <= high:
        ways.append("0")
    if high > 0:
        ways.append(between(max(1, low), high))
    return either(ways)


def between(low: int, high: int) -> str:
    """Positive integers from `low` to `high`, by their number of digits; runs of whole lengths are one alternative."""
    first, last = len(str(low)), len(str(high))
    if first == last:
        return either(_same_length(str(low), str(high)))
    ways, from_length = [], first
    if low != 10 ** (first - 1):
        ways += _same_length(str(low), "9" * first)
        from_length += 1
    to_length = last if high == 10**last - 1 else last - 1
    if from_length <= to_length:
        ways.append(f"[1-9][0-9]{{{from_length - 1},{to_length - 1}}}")
    if to_length < last:
        ways += _same_length("1" + "0" * (last - 1), str(high))
    return either(ways)


def _same_length(low: str, high: str) -> list[str]:
    """Digits between two texts of one length."""
    if not low:
        return [""]
    if set(low) == {"0"} and set(high) == {"9"}:
        return [f"[0-9]{{{len(low)}}}"]
    if low[0] == high[0]:
        return [low[0] + either(_same_length(low[1:], high[1:]))]
    rest = len(low) - 1
    start, end, ways = int(low[0]), int(high[0]), []
    if set(low[1:]) - {"0"}:
        ways.append(low[0] + either(_same_length(low[1:], "9" * rest)))
        start += 1
    last = []
    if set(high[1:]) - {"9"}:
        last.append(high[0] + either(_same_length("0" * rest, high[1:])))
        end -= 1
    if start <= end:
        digit = f"[{start}-{end}]" if start < end else str(start)
        ways.append(digit + (f"[0-9]{{{rest}}}" if rest else ""))
    return ways + last


def either(ways: list[str]) -> str:
    return ways[0] if len(ways) == 1 else f"({'|'.join(ways)})"
