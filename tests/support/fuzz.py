"""Fuzzing of one family: turns that no model wrote, and what must hold for each of them.

    python -m tests.support.fuzz [--seconds 600] [--format NAME ...] [--seed N]

A turn is any text, a soup of markers, or golden turns of this and of other families, cut off, spliced and damaged. For each: no
exception, events in order, little held back, the same reading at another cutting, and nothing lost when there are no tools; for
some: time that grows with the length. `--seconds` is the time for all families together.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, takewhile
from pathlib import Path

import parsers
from tests.support import order
from tests.support.conserved import all_there
from tests.support.turns import (
    JSON_PIECES,
    LONG,
    NAMES,
    PROSE,
    PYTHON_PIECES,
    SPACE,
    TOOLS,
    TOOLSETS,
    cut,
    markers,
    openings,
    read,
)

GOLDEN = Path(__file__).parent.parent / "golden"
UNREAD_LIMIT = 1024
"""Characters that a parser may keep without having read them, whatever arrives."""
COSTLY = 40
"""The cost of every so many turns is looked at."""
GROWTH, NOISE, ATTEMPTS = 8, 0.02, 4
Case = tuple[str, str]
"""What kind of turn it is, and its text."""


@cache
def golden_turns() -> dict[str, list[str]]:
    """The golden turns by family."""
    found: dict[str, list[str]] = {}
    for path in sorted(GOLDEN.glob("*/*.txt")):
        found.setdefault(path.parent.name, []).append(path.read_bytes().decode())
    return found


def any_text(chosen: random.Random, name: str) -> str:
    """Any bytes, or any characters."""
    if chosen.random() < 0.5:
        return chosen.randbytes(chosen.randint(0, 80)).decode(errors="replace")
    points = (chosen.randint(0, chosen.choice((127, 0xFF5C, 0x1F9FF))) for _ in range(chosen.randint(0, 60)))
    return "".join(chr(point) for point in points if not 0xD800 <= point <= 0xDFFF)


def soup(chosen: random.Random, name: str) -> str:
    """The family's markers and pieces of them among JSON, Python, names and prose."""
    own = markers(name)

    def piece() -> str:
        text = chosen.choice(
            (chosen.choice(own), chosen.choice(chosen.choice((JSON_PIECES, PYTHON_PIECES, NAMES, PROSE, SPACE))))
        )
        return text[: chosen.randint(1, len(text))] if chosen.random() < 0.2 else text

    text = "".join(piece() for _ in range(chosen.randint(1, 16)))
    return text + chosen.choice(LONG) + piece() if chosen.random() < 0.1 else text


def spliced(chosen: random.Random, name: str) -> str:
    """Golden turns, cut off and put together, with characters lost and pieces put in."""
    turns = golden_turns()
    others = chosen.choice(list(turns))
    text = ""
    for family in (name if name in turns else others, chosen.choice((name, others))):
        turn = chosen.choice(turns.get(family) or [soup(chosen, name)])
        start, end = sorted(chosen.randint(0, len(turn)) for _ in range(2))
        text += turn[chosen.choice((0, start)) : chosen.choice((len(turn), end))]
    for _ in range(chosen.randint(0, 4)):
        at = chosen.randint(0, len(text))
        text = text[:at] + chosen.choice(("", soup(chosen, name)[:12])) + text[at + chosen.randint(0, 6) :]
    return text


KINDS: dict[str, Callable[[random.Random, str], str]] = {"any text": any_text, "soup": soup, "golden": spliced}


def check(name: str, text: str, chosen: random.Random) -> None:
    """Raise AssertionError where a turn breaks a law."""
    fmt, tools, finish = parsers.get(name), chosen.choice(TOOLSETS), chosen.choice(("stop", "length"))
    opening, known = chosen.choice(openings(name)), chosen.random() < 0.7
    whole = read(fmt, [text], tools=tools, finish=finish, opening=opening, prompt_known=known)
    order.check(whole)
    parser = parsers.Parser(fmt, tools=tools, opening=opening, prompt_known=known)
    events: list[parsers.Event] = []
    for piece in cut(text, [chosen.randint(1, 9) for _ in range(5)]):
        events += parser.feed(piece)
        assert len(parser.buffer) - parser.at <= UNREAD_LIMIT, "too much stays unread"
    events += parser.finish(finish)
    assert parsers.normal(events) == parsers.normal(whole), "the events depend on the cutting"
    if len(text) < 400:
        assert all_there(name, text, read(fmt, [text], tools=())), "text was lost"


def is_linear(name: str, text: str) -> bool:
    """Whether four times the turn costs about four times the time; a busy machine only adds to it."""
    small = large = float("inf")
    for _ in range(ATTEMPTS):
        small, large = min(small, _seconds(name, text * 4)), min(large, _seconds(name, text * 16))
        if large <= GROWTH * small + NOISE:
            return True
    return False


def _seconds(name: str, text: str) -> float:
    parser = parsers.Parser(parsers.get(name), tools=TOOLS, prompt_known=True)
    begun = time.process_time()
    parser.feed(text)
    parser.finish("length")
    return time.process_time() - begun


def held(name: str, *, seed: int) -> Iterator[str]:
    """The kind of one turn after the other, each of which held; raises AssertionError with the turn that did not. Never ends."""
    chosen = random.Random(f"{seed} {name}")
    for number in count():
        kind = chosen.choice(list(KINDS))
        text = KINDS[kind](chosen, name)
        try:
            check(name, text, chosen)
            assert number % COSTLY or not text or is_linear(name, text), "the cost grows faster than the text"
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}, {kind}: {text!r}: {type(error).__name__}: {error}") from error
        yield kind


def held_within(seconds: float, name: str, *, seed: int) -> Counter[str]:
    """The number of turns of each kind that held in so much time."""
    until = time.monotonic() + seconds
    return Counter(takewhile(lambda _: time.monotonic() < until, held(name, seed=seed)))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=600)
    arguments.add_argument("--format", nargs="+", default=parsers.names(), metavar="NAME")
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    options = arguments.parse_args()
    total: Counter[str] = Counter()
    failed = 0
    for name in options.format:
        try:
            counts = held_within(options.seconds / len(options.format), name, seed=options.seed)
        except AssertionError as broken:
            failed += 1
            sys.stdout.write(f"FAILED {broken}\n")
            continue
        total += counts
        sys.stdout.write(f"{name:<20}{counts.total():>8}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{'TOTAL':<20}{total.total():>8}  {dict(total)}  failed {failed}  seed {options.seed}\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
