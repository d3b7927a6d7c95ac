"""Numbers and words: as JSON writes them, and as Python or a careless model may."""

import re

SCALAR = re.compile(r"[-+.0-9A-Za-z_]+")
"""What a number or a word may be made of."""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_PYTHON_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]*)?(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?\Z")
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_WORDS = frozenset({"true", "false", "null"})


def is_scalar(word: str) -> bool:
    """Whether this is a number or a word of JSON."""
    return word in _WORDS or _NUMBER.match(word) is not None


def python_scalar(word: str, *, numbers: bool) -> str | None:
    """The JSON text of a word that Python has for one of JSON's, or, if `numbers`, of a number in its spelling; else None."""
    return _PYTHON_WORDS.get(word) or (_python_number(word) if numbers else None)


def _python_number(word: str) -> str | None:
    """The JSON spelling of a number that Python or a careless model may write (`+1`, `.5`, `5.`, `007`, `1_000`)."""
    if not _PYTHON_NUMBER.match(word) or not any(c.isdigit() for c in word.lower().partition("e")[0]):
        return None
    digits = word.replace("_", "").lstrip("+")
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    mantissa, e, exponent = digits.lower().partition("e")
    whole, dot, fraction = mantissa.partition(".")
    return f"{sign}{whole.lstrip('0') or '0'}{dot + (fraction or '0') if dot else ''}{e + exponent if e else ''}"
