"""What is different between two outcomes of one turn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

TEXTS = ("reasoning", "content", "finish")


@dataclass(frozen=True, slots=True)
class Difference:
    """One place, what was recorded there, and what is there now; None where there is nothing."""

    place: str
    recorded: Any
    now: Any


def differences(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    """All of them, in the order of the turn: each choice's texts, calls and notices, then the verdict on it."""
    return list(_differences(recorded, now))


def _differences(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    several = len(recorded["choices"]) > 1
    nothing: dict[str, Any] = {}
    for place, (old, new) in enumerate(zip_longest(recorded["choices"], now["choices"], fillvalue=nothing)):
        yield from _of_choice(old, new, f"choices[{place}]." if several else "")
    yield from _unequal("refused", recorded["refused"], now["refused"])


def _of_choice(old: Mapping[str, Any], new: Mapping[str, Any], before: str) -> Iterator[Difference]:
    for name in TEXTS:
        yield from _unequal(before + name, old.get(name), new.get(name))
    for name in ("tool_calls", "notices"):
        pairs = zip_longest(old.get(name) or (), new.get(name) or (), fillvalue=None)
        for place, (one, other) in enumerate(pairs):
            yield from _of_entry(f"{before}{name}[{place}]", one, other)


def _of_entry(place: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[Difference]:
    """Two calls or notices: the whole where there is only one, else the parts that are not equal."""
    if old is None or new is None:
        yield Difference(place, old, new)
        return
    for key in {**old, **new}:
        yield from _unequal(f"{place}.{key}", old.get(key), new.get(key))


def _unequal(place: str, old: Any, new: Any) -> Iterator[Difference]:
    if old != new:
        yield Difference(place, old, new)
