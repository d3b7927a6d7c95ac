"""Texts that a regular expression matches."""

import random

from parsers.grammars.regexes import Chars, Choice, Regex, Repeated, Row


def sample(node: Regex, chance: random.Random) -> str:
    """One of them, with both ends of every repetition and class now and then."""
    match node:
        case Chars(ranges):
            low, high = chance.choice(ranges)
            return chr(chance.choice((low, min(high, low + 90), chance.randint(low, min(high, low + 90)))))
        case Row(parts):
            return "".join(sample(part, chance) for part in parts)
        case Choice(ways):
            return sample(chance.choice(ways), chance)
        case Repeated(part, least, most):
            top = least + 4 if most is None else most
            return "".join(sample(part, chance) for _ in range(chance.choice((least, top, chance.randint(least, top)))))
