"""What a turn may look like, between description and dialect: a small tree that every constraint language can say."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Const:
    """Exactly this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON value of a schema. `excludes`: texts that its strings may not contain, because they would end the value."""

    schema: Mapping[str, Any]
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """Free text without `excludes`. `schema` is of a string and says more about it; its text stands without quotes."""

    excludes: tuple[str, ...]
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """Text of a regular expression that all dialects read alike."""

    regex: str


@dataclass(frozen=True, slots=True)
class Key:
    """The name of a property that is none of those that are taken."""

    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class All:
    """One after the other."""

    parts: tuple["Shape", ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several."""

    parts: tuple["Shape", ...]


@dataclass(frozen=True, slots=True)
class Maybe:
    """The part, or nothing."""

    part: "Shape"


@dataclass(frozen=True, slots=True)
class Several:
    """The part once or more, with a separator between; `least` 0: or not at all."""

    part: "Shape"
    separator: str = ""
    least: int = 1


@dataclass(frozen=True, slots=True)
class Watched:
    """Free text in which certain texts, once written, must go on as their shape says; `once`: and then the turn is over.

    `barred`: texts that it does not begin with, because something else may stand before it that does.
    """

    rules: tuple[tuple[str, "Shape"], ...]
    once: bool = False
    barred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning, and what comes `then`. `opener`: what it begins with, or None where it has begun; with one it may be missing.

    It ends with one of `closers`, and `after` that; or where `then` begins with one of `starts`. It holds none of `excludes`.
    """

    opener: str | None
    closers: tuple[str, ...]
    after: str
    starts: tuple[str, ...]
    excludes: tuple[str, ...]
    then: "Shape"

    @property
    def text(self) -> Text:
        """The reasoning itself."""
        return Text(shortest(map(_told_early, (*self.closers, *_before_names(self.starts), *self.excludes))))

    @property
    def closer(self) -> "Shape":
        """What ends it, written out."""
        return one_of(*(Const(closer + self.after) for closer in self.closers))


def _before_names(starts: tuple[str, ...]) -> tuple[str, ...]:
    """What calls begin with, up to the name where names alone make the difference: engines prepare for each letter of each."""
    heads = [found[1] if (found := NAMED.match(text)) else text for text in starts]
    return tuple(head if heads.count(head) > 1 else text for head, text in zip(heads, starts, strict=True))


def _told_early(marker: str) -> str:
    """The beginning of a control token's text that occurs in no reasoning: each character more takes engines 20 ms to prepare."""
    return marker[:CONTROL] if marker.startswith("<|") else marker


NAMED = re.compile(r'([^"]{5,}[^\w"])[\w-]+\W$')
"""A beginning that ends with a name: after six characters or more that are no JSON, and before one."""
CONTROL = 6
"""So many characters of it tell `<|channel|>` from all that is no control token."""
Shape = Const | Json | Text | Pattern | Key | All | OneOf | Maybe | Several | Watched | Thought
EMPTY = All(())


def all_of(*parts: Shape) -> Shape:
    """The parts in order, flattened, with neighbouring texts joined."""
    flat: list[Shape] = []
    for part in parts:
        for piece in part.parts if isinstance(part, All) else (part,):
            last = flat[-1] if flat else None
            if isinstance(piece, Const) and not piece.text:
                continue
            if isinstance(piece, Const) and isinstance(last, Const):
                flat[-1] = Const(last.text + piece.text)
            else:
                flat.append(piece)
    return flat[0] if len(flat) == 1 else All(tuple(flat))


def one_of(*parts: Shape) -> Shape:
    """One of the parts, each only once."""
    different = tuple(dict.fromkeys(parts)) if all(_hashable(part) for part in parts) else parts
    return different[0] if len(different) == 1 else OneOf(different)


def shortest(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts that hold none of the others: to exclude these is to exclude all."""
    different = tuple(dict.fromkeys(texts))
    return tuple(text for text in different if not any(other != text and other in text for other in different))


def _hashable(part: Shape) -> bool:
    return isinstance(part, Const | Pattern | Key)


def after_text(shape: Shape, text: str) -> Shape | None:
    """What may follow `text` where it is the beginning of a shape; None when the shape cannot begin with it."""
    match shape:
        case Const(whole):
            return all_of(Const(whole[len(text) :])) if whole.startswith(text) else None
        case All(parts):
            return _after_text_in(parts, text)
        case OneOf(parts):
            ways = [way for part in parts if (way := after_text(part, text)) is not None]
            return one_of(*ways) if ways else None
        case Maybe(part):
            return after_text(part, text)
        case Several(part, separator):
            way = after_text(part, text)
            more = Several(all_of(Const(separator), part), least=0)
            return None if way is None else all_of(way, more)
        case _:
            return None


def _after_text_in(parts: tuple[Shape, ...], text: str) -> Shape | None:
    ways: list[Shape] = []
    for at, part in enumerate(parts):
        way = after_text(part, text)
        if way is not None:
            ways.append(all_of(way, *parts[at + 1 :]))
        if not isinstance(part, Maybe):
            break
    return one_of(*ways) if ways else None
