"""Regular expressions in EBNF."""

from collections.abc import Iterable

from .ebnf_text import NOTHING, characters, choice, quoted, repeated, row
from .regexes import Chars, Choice, Regex, Repeated, Row
from .rules import Rules
from .runs import BLOCK, Kind, run, run_before, times


def expression(rules: Rules, node: Regex) -> str:
    """A regular expression, as one term."""
    match node:
        case Chars(ranges):
            return characters(ranges)
        case Row(parts):
            joined = list(_joined(rules, parts))
            return joined[0] if len(joined) == 1 else f"({row(joined)})"
        case Choice(ways):
            return choice(expression(rules, way) for way in ways)
        case Repeated():
            return _repeated(rules, node)


def _repeated(rules: Rules, node: Repeated) -> str:
    kind, count = _kind(node.part), max(node.least, node.most or 0)
    part = expression(rules, node.part)
    if count <= (BLOCK if kind is None else kind.quick):
        return repeated(part, node.least, node.most)
    if kind is not None:
        if node.most is not None:
            return f"({run(rules, kind, node.least, node.most)})"
        return run_before(rules, kind, node.least, repeated(part, 0, None))
    rest = repeated(part, 0, None) if node.most is None else NOTHING
    for _ in range((node.most or node.least) - node.least):
        rest = rules.named("run", f"{NOTHING} | {row((part, rest))}")
    return f"({row((times(rules, part, node.least), rest))})"


def _kind(part: Regex) -> Kind | None:
    """The characters of a part that is but one character, as it is or escaped."""
    match part:
        case Chars(ranges):
            return Kind(ranges)
        case Choice((Chars(ranges), Row((Chars(((92, 92),)), Chars(letters))))):
            return Kind(ranges, characters(letters))
        case _:
            return None


def _joined(rules: Rules, parts: tuple[Regex, ...]) -> Iterable[str]:
    """The parts of a row, with neighbouring single characters as one literal."""
    text = ""
    for part in parts:
        if isinstance(part, Chars) and len(part.ranges) == 1 and part.ranges[0][0] == part.ranges[0][1]:
            text += chr(part.ranges[0][0])
            continue
        if text:
            yield quoted(text)
            text = ""
        yield expression(rules, part)
    if text or not parts:
        yield quoted(text)
