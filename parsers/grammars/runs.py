"""Runs of characters in EBNF, at least and at most so many, said so that an engine needs few states for them.

An engine prepares a mask for each state that reads characters (30 ms where most of a vocabulary fits), and tries the tokens
that a mask leaves open whenever it is used. So all characters of a run are read by one rule, `one`, whose mask leaves open every
token of several characters. Rules with a lookahead (`= ...`) would tell of whole tokens at once, but xgrammar's masks then let
tokens through that its matcher refuses (`...` and a line break in a JSON string), which ends the request.
"""

from dataclasses import dataclass

from .ebnf_text import NOTHING, characters, quoted, repeated, row
from .regexes import Ranges, without
from .rules import Rules

INLINE = 4
"""So many last characters of a run have masks of their own: short tokens are few."""
BLOCK = 128
MOST = BLOCK**3
"""The longest run that is counted."""
FEW = ((22, BLOCK), (128, 16))
"""How often classes of not more characters are repeated at most for engines to count them quickly by themselves."""
NEVER = r"[^\u0000-\U0010ffff]"
"""A class without characters."""
UNUSUAL = ((34, 34), (92, 92))
"""What an endless run leaves to `one`: an engine believes a mask without another look if it refuses a thousand tokens or more."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Characters: those of some ranges, and escapes, given by what may stand behind a backslash."""

    plain: Ranges
    escape: str = ""

    @property
    def quick(self) -> int:
        """Up to how many of them engines count quickly by themselves."""
        size = sum(high - low + 1 for low, high in self.plain)
        return INLINE if self.escape else next((most for limit, most in FEW if size <= limit), INLINE)


def run(rules: Rules, kind: Kind, least: int, most: int) -> str:
    """Characters from a least to a most number of them."""
    return _Run(rules, kind).between(least, most)


def times(rules: Rules, item: str, count: int) -> str:
    """An expression so often: engines write out up to a block of it."""
    found: list[str] = []
    while count:
        count, left = divmod(count, BLOCK)
        found.append(repeated(item, left, left))
        item = rules.named("block", repeated(item, BLOCK, BLOCK)) if count else item
    return row(found)


def run_before(rules: Rules, kind: Kind, least: int, rest: str) -> str:
    """At least so many characters, then a rest that goes on with any number of them, and ends by itself."""
    return _Run(rules, kind).before(least, rest)


class _Run:
    def __init__(self, rules: Rules, kind: Kind) -> None:
        self._rules = rules
        self._plain, self._usual = characters(kind.plain), characters(without(kind.plain, UNUSUAL))
        self._ways = [self._plain, *([row((quoted(chr(92)), kind.escape))] if kind.escape else [])]
        # engines write a rule out wherever it stands, unless it means another
        self._one = rules.named("one", self._together(self._plain))

    def between(self, least: int, most: int) -> str:
        rest, done = self._up_to(most - least), 0
        while done < least and done + most - least < INLINE:
            rest = self._rules.named("run", self._read(rest, done + most - least))
            done += 1
        return row((times(self._rules, self._one, least - done), rest)) if done < least else rest

    def before(self, least: int, rest: str) -> str:
        if least <= 1:
            return self._rules.named("run", self._read(rest, 0)) if least else rest
        # the second way never ends: its mask tells of all tokens at once that hold no end
        endless = self._rules.named("endless", f"{self._usual}* {NEVER}")
        return self._rules.named("run", f"{row((times(self._rules, self._one, least), rest))} | {endless}")

    # ---- one character
    def _together(self, plain: str) -> str:
        return " | ".join((plain, *self._ways[1:], self._rules.named("never", NEVER)))

    def _read(self, rest: str, room: int) -> str:
        """One character before the rest, where so many may follow it."""
        return " | ".join(row((way, rest)) for way in (self._ways if room < INLINE else [self._one]))

    # ---- many
    def _up_to(self, most: int) -> str:
        """None, or up to so many: a rule for each number, for large ones a rule for each block of them."""
        unit = next((size for size in (BLOCK * BLOCK, BLOCK) if most > 2 * size), 0)
        if not unit:
            rest = NOTHING
            for room in range(most):
                rest = self._rules.named("run", f"{NOTHING} | {self._read(rest, room)}")
            return rest
        blocks = (most - unit - 1) // unit
        short, rest = self._up_to(unit - 1), self._up_to(most - blocks * unit)
        block = times(self._rules, self._one, unit)
        for _ in range(blocks):
            rest = self._rules.named("run", f"{short} | {row((block, rest))}")
        return rest
