"""What may vanish from a turn that holds no call, and whether anything else did."""

import parsers
from parsers.automaton import reachable
from parsers.description import Marker, Messages, Text
from parsers.parser import compiled
from parsers.readers.strays import meaningless
from tests.support.turns import markers


def droppable(name: str) -> tuple[str, ...]:
    """The texts that may vanish from a turn without calls: the framing of reasoning and of messages, and ends of the turn."""
    fmt = parsers.get(name)
    found = {*fmt.stop, *meaningless(fmt)}
    positions = list(reachable(compiled(fmt)))
    in_content = [p for position in positions if position.leaf == Text("content") for p in position.follow]
    for position in positions:
        opens_reasoning = position.text is not None and position.text.leaf == Text("reasoning")
        opens_turn = position.text is not None and position not in in_content and not position.scope
        if (
            isinstance(position.leaf, Marker)
            and not position.leaf.repairs
            and (opens_reasoning or opens_turn or isinstance(fmt.turn, Messages))
        ):
            found.update(position.leaf.texts())
        if position.leaf == Text("reasoning"):
            found.update(text for text, target in position.markers.items() if target.text is not None)
    return tuple(found)


def squeezed(text: str) -> str:
    """Without white space, which framing may take with it."""
    return "".join(text.split())


def is_kept(turn: str, shown: str, framing: tuple[str, ...]) -> bool:
    """Whether `shown` is the turn with nothing but occurrences of `framing` taken out."""
    reached: list[set[int]] = [set() for _ in range(len(turn) + 1)]
    reached[0].add(0)
    for at, here in enumerate(reached[:-1]):
        skips = [len(text) for text in framing if turn.startswith(text, at)] if here else []
        for done in here:
            if shown[done : done + 1] == turn[at]:
                reached[at + 1].add(done + 1)
            for length in skips:
                reached[at + length].add(done)
    return len(shown) in reached[len(turn)]


def all_there(name: str, text: str, events: list[parsers.Event]) -> bool:
    """Whether the events of a turn without calls show all of its text but framing."""
    shown = "".join(e.text for e in events if isinstance(e, parsers.ContentDelta | parsers.ReasoningDelta))
    framing = droppable(name)
    cut_off = [n.detail for n in parsers.fold(events).notices if n.kind == "truncated"]
    tails = {text[-n:] for marker in markers(name) for n in range(1, len(marker)) if cut_off and text.endswith(marker[:n])}
    if not is_kept(squeezed(text), squeezed(shown), tuple(map(squeezed, (*framing, *tails)))):
        return False
    return (
        bool(tails) or any(marker in text for marker in framing) or (parsers.fold(events).content or "").strip() == text.strip()
    )
