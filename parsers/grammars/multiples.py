"""Multiples as regular expressions: few of them one by one, those of steps that decimal digits tell by their last digits."""

from decimal import Decimal

from .decimals import PRECISE
from .integers import Limit, NoNumber, either

MOST_LISTED, MOST_PARTS = 300, 64
"""How many multiples are written out one by one: in all, and between two integers."""


def multiples(step: Decimal, low: Limit, high: Limit, *, integer: bool) -> str | None:
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
    return either([*short, f"[1-9][0-9]{{0,{PRECISE - 1 - cycle}}}{either(tails)}"])


def _parts_of_one(step: Decimal) -> str | None:
    """Positive multiples of a step that one is a multiple of."""
    count = Decimal(1) / step
    places = -int(step.normalize().as_tuple().exponent)
    if count != count.to_integral_value() or (count > MOST_PARTS and count != Decimal(10) ** places):
        return None
    if count == Decimal(10) ** places:
        some = [f"[0-9]{{{before}}}[1-9][0-9]{{0,{places - before - 1}}}" for before in range(places)]
        return either([rf"[1-9][0-9]{{0,{PRECISE - 7}}}(\.[0-9]{{1,{places}}})?", rf"0\.{either(some)}"])
    parts = [f"{part * step:f}".partition(".")[2].rstrip("0") for part in range(1, int(count))]
    tail = rf"\.({'|'.join(parts)})"
    return either([rf"[1-9][0-9]{{0,{PRECISE - 7}}}(\.0|{tail})?", f"0{tail}"])


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
    return either([text.replace(".", r"\.") for text in texts])
