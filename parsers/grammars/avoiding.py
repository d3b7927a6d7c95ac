"""Text in EBNF that holds none of some others: one rule for each state, which is how much of one of them has been written."""

from dataclasses import dataclass

from .ebnf_text import PLAIN, characters, quoted, row
from .regexes import ANY, Ranges, without
from .rules import Rules
from .runs import Kind


def free_of(texts: tuple[str, ...], *, escape: str = "") -> Kind:
    """Characters of which none of these texts can be written."""
    return Kind(without(PLAIN if escape else ANY.ranges, _ranges(sorted(telling(texts)))), escape)


def unlike_first(texts: tuple[str, ...]) -> Ranges:
    """Characters behind which none of these texts has begun."""
    return without(ANY.ranges, _ranges(sorted({*telling(texts), *(text[0] for text in texts)})))


@dataclass(frozen=True, slots=True)
class Alphabet:
    """What a name begins with, and what it goes on with. `empty`: it may have no character at all."""

    first: Ranges
    rest: Ranges
    empty: bool = False


def unlike(rules: Rules, names: list[str], alphabet: Alphabet, *, end: str) -> str:
    """Names that are none of these, then `end`: they are told apart letter by letter."""
    letters = {name[0]: [other[1:] for other in names if other[:1] == name[0]] for name in names if name}
    free = rules.named("key", f"{characters(alphabet.rest)}* {end}")
    ways = [row((characters(without(alphabet.first, _ranges(list(letters)))), free))]
    if alphabet.empty and "" not in names:
        ways.append(end)
    inside = Alphabet(alphabet.rest, alphabet.rest, empty=True)
    for letter, tails in letters.items():
        if any(low <= ord(letter) <= high for low, high in alphabet.first):
            ways.append(row((quoted(letter), unlike(rules, tails, inside, end=end))))
    return rules.named("key", " | ".join(ways))


def telling(texts: tuple[str, ...]) -> frozenset[str]:
    """Few characters of which every text holds one: without them none of the texts can be written. Letters where it must be."""
    found: set[str] = set()
    left = [text for text in texts if text]
    while left:
        candidates = dict.fromkeys(character for text in left for character in text)
        best = max(candidates, key=lambda each: (not (each.isspace() or each.isalnum()), sum(each in text for text in left)))
        found.add(best)
        left = [text for text in left if best not in text]
    return frozenset(found)


def avoiding(rules: Rules, texts: tuple[str, ...], *, end: str, escape: str = "") -> str:
    """The rule for characters that hold none of these texts, then `end`.

    `escape`: what may stand behind a backslash, where the characters are those of a JSON string.
    """
    return rules.once(("avoiding", texts, end, escape), lambda: _written(rules, texts, end=end, escape=escape))


def _written(rules: Rules, texts: tuple[str, ...], *, end: str, escape: str) -> str:
    prefixes = list(dict.fromkeys(("", *(text[:size] for text in texts for size in range(1, len(text))))))
    names = {prefix: rules.reserved("chars") for prefix in prefixes}
    for prefix, name in names.items():
        rules.define(name, " | ".join((end, *_steps(prefix, texts, names, escape))))
    return names[""]


def _steps(prefix: str, texts: tuple[str, ...], names: dict[str, str], escape: str) -> list[str]:
    """The ways to write one more character."""
    targets: dict[str, list[str]] = {}
    banned: list[str] = []
    for letter in sorted({character for text in texts for character in text}):
        target = _longest(prefix + letter, texts, names)
        if target is None:
            banned.append(letter)
        elif target:
            targets.setdefault(target, []).append(letter)
    marked = [*banned, *(letter for some in targets.values() for letter in some)]
    steps = [f"{characters(without(PLAIN if escape else ANY.ranges, _ranges(marked)))} {names['']}"]
    steps += [f"{characters(_ranges(some))} {names[target]}" for target, some in targets.items()]
    return [*steps, f"{quoted(chr(92))} {escape} {names['']}"] if escape else steps


def _ranges(letters: list[str]) -> Ranges:
    return tuple((ord(letter), ord(letter)) for letter in letters)


def _longest(written: str, texts: tuple[str, ...], prefixes: dict[str, str]) -> str | None:
    """The longest end of what is written that begins one of the texts; None when one of them is whole."""
    if any(written.endswith(text) for text in texts):
        return None
    return next(written[at:] for at in range(len(written) + 1) if written[at:] in prefixes)
