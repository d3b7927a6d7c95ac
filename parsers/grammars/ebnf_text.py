"""The pieces of EBNF, as xgrammar reads it: literals, classes, rows, choices, repetitions."""

import json
from collections.abc import Iterable

from .regexes import ANY, CONTROLS, Ranges, without

NOTHING = '""'
PLAIN = without(ANY.ranges, (CONTROLS, (34, 34), (92, 92)))
"""Characters that stand in a JSON string as they are."""


def quoted(text: str) -> str:
    """A literal for exactly this text."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7F")


def row(parts: Iterable[str]) -> str:
    """One after the other."""
    return " ".join(part for part in parts if part != NOTHING) or NOTHING


def choice(ways: Iterable[str]) -> str:
    """One of several, in brackets where there is more than one."""
    different = list(dict.fromkeys(ways))
    return different[0] if len(different) == 1 else f"({' | '.join(different)})"


def repeated(expression: str, least: int, most: int | None) -> str:
    """An expression several times."""
    if most == 0 or (least, most) == (0, 0):
        return NOTHING
    if (least, most) == (1, 1):
        return expression
    sign = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    return f"({expression}){sign or f'{{{least},{str() if most is None else most}}}'}"


def characters(ranges: Ranges) -> str:
    """A class of characters."""
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return quoted(chr(ranges[0][0]))
    return f"[{''.join(_range(low, high) for low, high in ranges)}]"


def _range(low: int, high: int) -> str:
    return _character(low) if low == high else f"{_character(low)}-{_character(high)}"


def _character(code: int) -> str:
    if chr(code).isascii() and chr(code).isalnum():
        return chr(code)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
