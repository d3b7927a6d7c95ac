"""Runs of characters in EBNF, at least and at most so many, said so that an engine needs few states for them.

An engine prepares a mask for each state that reads characters (30 ms where most of a vocabulary fits), and tries the tokens
that a mask leaves open whenever it is used. So all characters of a run are read by one rule, `one`, whose mask leaves open every
token of several characters. A second rule, `near`, reads the same characters where so many more may follow that its lookahead
(`= ...`) tells of whole tokens at once. What it allows `one` allows too: it is there for the masks alone.
"""

from dataclasses import dataclass

from .ebnf_text import NOTHING, characters, choice, quoted, repeated, row
from .regexes import Ranges, without
from .rules import Rules

ROOMS = (24, 12)
"""How many characters surely fit behind one: a mask for each of these. Few tokens are longer than the first."""
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
"""What `near` leaves to `one`: an engine believes a mask without another look if it refuses a thousand tokens or more."""


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


def _ahead(ranges: Ranges) -> Ranges:
    """As many of these characters as can stand in a lookahead.

    There, and nowhere else, xgrammar compares an ASCII character with the lowest bytes of the two ends of a range: in U+E000 to
    U+10FFFF it finds a quote, a line break and all others. So no range holds characters of both kinds, and none of the second
    begins with a low byte that is ASCII; at most 128 characters of each are left out.
    """
    ascii_only = ((low, min(high, 0x7F)) for low, high in ranges if low <= 0x7F)
    others = ((max(low, 0x80) | 0x80, high) for low, high in ranges)
    return (*ascii_only, *((low, high) for low, high in others if low <= high))


class _Run:
    def __init__(self, rules: Rules, kind: Kind) -> None:
        self._rules = rules
        usual = without(kind.plain, UNUSUAL)
        self._plain, self._usual, self._ahead = characters(kind.plain), characters(usual), characters(_ahead(usual))
        self._ways = [self._plain, *([row((quoted(chr(92)), kind.escape))] if kind.escape else [])]
        # engines write a rule out wherever it stands, unless it means another
        self._one = rules.named("one", self._together(self._plain))

    def between(self, least: int, most: int) -> str:
        rest, done = self._up_to(most - least), 0
        while done < least and done + most - least < INLINE:
            rest = self._rules.named("run", self._read(rest, done + most - least))
            done += 1
        steps: list[str] = []
        while done < least:
            room = done + most - least
            larger = min((size for size in ROOMS if size > room), default=most)
            count = min(least - done, larger - room)
            steps.insert(0, self._steps(room, count))
            done += count
        return row((*steps, rest))

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
        ways = self._ways if room < INLINE else self._counted(room)
        return " | ".join(row((way, rest)) for way in ways)

    def _counted(self, room: int) -> tuple[str, ...]:
        known = next((size for size in ROOMS if size <= room), None)
        return (self._one,) if known is None else (self._one, self._near(known))

    def _steps(self, room: int, count: int) -> str:
        """So many characters, with room for these behind the last but that of the first."""
        return times(self._rules, self._rules.named("step", choice(self._counted(room))), count)

    def _near(self, room: int) -> str:
        return self._rules.once(("near", self._one, room), lambda: self._written_near(room))

    def _written_near(self, room: int) -> str:
        """An engine believes the lookahead of a rule only where it stands once, and not at the end of another."""
        name = self._rules.reserved("near")
        self._rules.define(name, f"{self._together(self._usual)} (= {row([self._ahead] * room)})")
        return self._rules.named("near", row((name, self._rules.named("nothing", f"{NOTHING} | {NEVER}"))))

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
        block = self._steps(BLOCK, unit)
        for _ in range(blocks):
            rest = self._rules.named("run", f"{short} | {row((block, rest))}")
        return rest
