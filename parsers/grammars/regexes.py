"""Regular expressions read as trees: what they can match, how long that is, and how it stands inside JSON.

Read as JSON Schema's authors mean them: ECMA-262, `\\d` and `\\w` in ASCII. What no grammar can say is refused.
"""

from dataclasses import dataclass
from functools import lru_cache

Ranges = tuple[tuple[int, int], ...]
LAST = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)
CONTROLS = (0, 0x1F)
DEEPEST = 40
MOST_REPEATED = 2000
CLASSES: dict[str, Ranges] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": (
        *((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
        *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
    ),
}
NAMED = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "0": 0}
SHORT = {34: '"', 92: "\\", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t"}
"""Characters that a JSON string holds escaped, and the letter of the escape."""


class UnreadableRegex(ValueError):
    """No tree says what this expression says; the text tells why."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of these ranges."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Row:
    """One after the other."""

    parts: tuple["Regex", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several."""

    ways: tuple["Regex", ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A part `least` to `most` times; `most` None: without end."""

    part: "Regex"
    least: int
    most: int | None


Regex = Chars | Row | Choice | Repeated


def complement(ranges: Ranges) -> Ranges:
    """All characters that are not in these."""
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in sorted((*ranges, SURROGATES)):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    return (*found, (start, LAST)) if start <= LAST else tuple(found)


def without(ranges: Ranges, others: Ranges) -> Ranges:
    """The characters of the first that are not of the second."""
    return complement((*complement(ranges), *others))


ANY = Chars(complement(()))
DOT = Chars(complement(((10, 10), (13, 13), (0x2028, 0x2029))))


def literal(text: str) -> Row:
    """Exactly this text."""
    return Row(tuple(Chars(((ord(character),) * 2,)) for character in text))


@lru_cache(maxsize=1024)
def whole(pattern: str) -> Regex:
    """The texts in which a pattern is found: it is anchored only where it says so. UnreadableRegex names what cannot be said."""
    return _Reader(pattern).read(anchored=False)


@lru_cache(maxsize=1024)
def exact(pattern: str) -> Regex:
    """The texts that a pattern without anchors matches from end to end."""
    return _Reader(pattern).read(anchored=True)


def width(node: Regex) -> tuple[int, int | None]:
    """The least and the most characters of a match; None: without end."""
    match node:
        case Chars():
            return 1, 1
        case Row(parts):
            widths = [width(part) for part in parts]
            most = [high for _, high in widths]
            return sum(low for low, _ in widths), None if None in most else sum(high or 0 for high in most)
        case Choice(ways):
            widths = [width(way) for way in ways]
            most = [high for _, high in widths]
            return min(low for low, _ in widths), None if None in most else max(high or 0 for high in most)
        case Repeated(part, least, top):
            low, high = width(part)
            return low * least, None if top is None or high is None else high * top


def narrowed(node: Regex, banned: frozenset[str]) -> Regex:
    """The expression whose classes of several characters hold none of these; characters that it names by themselves stay."""
    gone = tuple((ord(each), ord(each)) for each in banned)
    match node:
        case Chars(((low, high),)) if low == high:
            return node
        case Chars(ranges):
            return Chars(without(ranges, gone))
        case Row(parts):
            return Row(tuple(narrowed(part, banned) for part in parts))
        case Choice(ways):
            return Choice(tuple(narrowed(way, banned) for way in ways))
        case Repeated(part, least, most):
            return Repeated(narrowed(part, banned), least, most)


def in_json(node: Regex) -> Regex:
    """The same texts as they stand in a JSON string: quotes, backslashes and control characters escaped."""
    match node:
        case Chars(ranges):
            return _escaped(ranges)
        case Row(parts):
            return Row(tuple(in_json(part) for part in parts))
        case Choice(ways):
            return Choice(tuple(in_json(way) for way in ways))
        case Repeated(part, least, most):
            return Repeated(in_json(part), least, most)


def _escaped(ranges: Ranges) -> Regex:
    plain = without(ranges, (CONTROLS, (34, 34), (92, 92)))
    letters = tuple((ord(letter),) * 2 for code, letter in SHORT.items() if any(low <= code <= high for low, high in ranges))
    ways: list[Regex] = [Chars(plain)] if plain else []
    if letters:
        ways.append(Row((*literal("\\").parts, Chars(letters))))
    if not ways:
        raise UnreadableRegex("it names control characters that have no short escape in JSON")
    return ways[0] if len(ways) == 1 else Choice(tuple(ways))


class _Reader:
    """Reads one expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def read(self, *, anchored: bool) -> Regex:
        """The whole of it; text around what is not anchored is free, unless it all is."""
        ways: list[Regex] = []
        while True:
            begins = self._took("^")
            parts = self._sequence()
            ends = self._took("$")
            free = (Repeated(ANY, 0, None),)
            ways.append(Row((*(() if begins or anchored else free), *parts, *(() if ends or anchored else free))))
            if not self._took("|"):
                break
        if self._at < len(self._text):
            raise UnreadableRegex(f"{self._text[self._at]!r} stands where it means nothing")
        return ways[0] if len(ways) == 1 else Choice(tuple(ways))

    def _took(self, text: str) -> bool:
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _next(self) -> str:
        if self._at >= len(self._text):
            raise UnreadableRegex("it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _sequence(self) -> tuple[Regex, ...]:
        parts: list[Regex] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)$":
            parts.append(self._repeated(self._atom()))
        return tuple(parts)

    def _atom(self) -> Regex:
        character = self._next()
        if character == "(":
            return self._group()
        if character == "[":
            return self._class()
        if character == ".":
            return DOT
        if character == "\\":
            return Chars(self._escape())
        if character in "*+?^":
            raise UnreadableRegex(f"{character!r} stands where it means nothing")
        return Chars(((ord(character), ord(character)),))

    def _group(self) -> Regex:
        if self._took("?") and not self._took(":"):
            raise UnreadableRegex("lookaround and named groups are not supported")
        self._depth += 1
        if self._depth > DEEPEST:
            raise UnreadableRegex("it is nested too deeply")
        ways: list[Regex] = [Row(self._sequence())]
        while self._took("|"):
            ways.append(Row(self._sequence()))
        if not self._took(")"):
            raise UnreadableRegex("a group is not closed, or an anchor stands inside of it")
        self._depth -= 1
        return ways[0] if len(ways) == 1 else Choice(tuple(ways))

    def _class(self) -> Regex:
        negated = self._took("^")
        ranges: list[tuple[int, int]] = []
        while not self._took("]"):
            low = self._member()
            if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
                self._at += 1
                high = self._member()
                if len(low) > 1 or len(high) > 1 or low[0][0] != low[0][1] or high[0][0] != high[0][1] or low > high:
                    raise UnreadableRegex("a range of characters has no ends")
                ranges.append((low[0][0], high[0][1]))
            else:
                ranges.extend(low)
        found = complement(tuple(ranges)) if negated else tuple(sorted(ranges))
        if not found:
            raise UnreadableRegex("a class holds no character")
        return Chars(found)

    def _member(self) -> Ranges:
        character = self._next()
        if character == "\\":
            return ((8, 8),) if self._took("b") else self._escape()
        return ((ord(character), ord(character)),)

    def _escape(self) -> Ranges:
        character = self._next()
        if character in CLASSES:
            return CLASSES[character]
        if character.lower() in CLASSES:
            return complement(CLASSES[character.lower()])
        if character in NAMED:
            return ((NAMED[character],) * 2,)
        if character in "xu":
            digits = self._text[self._at : self._at + (2 if character == "x" else 4)]
            self._at += len(digits)
            try:
                return ((int(digits, 16),) * 2,)
            except ValueError:
                raise UnreadableRegex(f"\\{character}{digits} is no character") from None
        if character.isalnum():
            raise UnreadableRegex(f"\\{character} is not supported")
        return ((ord(character), ord(character)),)

    def _repeated(self, part: Regex) -> Regex:
        least, most = self._quantity()
        if (least, most) == (1, 1):
            return part
        if self._took("?") and self._text.startswith(("*", "+", "{"), self._at):
            raise UnreadableRegex("a repetition is repeated")
        if max(least, most or 0) > MOST_REPEATED:
            raise UnreadableRegex(f"it repeats more than {MOST_REPEATED} times")
        return Repeated(part, least, most)

    def _quantity(self) -> tuple[int, int | None]:
        for sign, found in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._took(sign):
                return found
        if not self._took("{"):
            return 1, 1
        inside, closed, _ = self._text[self._at :].partition("}")
        low, comma, high = inside.partition(",")
        if not closed or not low.isdigit() or (high and not high.isdigit()):
            raise UnreadableRegex("'{' is followed by no number")
        self._at += len(inside) + 1
        return int(low), (int(high) if high else None) if comma else int(low)
