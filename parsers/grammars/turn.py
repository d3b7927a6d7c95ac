"""The shape of a whole turn: thinking as far as it may still come, then the calls."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ..description import Either, Format, Gap, Interleaved, Marker, Messages, Node, Seq
from ..errors import ConstraintError
from ..message import Tool
from .shapes import All, Const, Maybe, Several, Shape, Thought, Watched, after_text, all_of, one_of
from .strict import Calls, Place
from .tree import Thinking, beginnings, first_texts, holds_call, leading_marker, led_by, thinking_of, up_to_call, walk, writes_all

State = Literal["ahead", "open", "over"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a turn shall be. `must`: at least one call and no free text. `opening`: what the prompt already wrote of it."""

    tools: tuple[Tool, ...]
    must: bool
    parallel: bool
    opening: str


@dataclass(frozen=True, slots=True)
class Begun:
    """The marker that begins each message, and what stands behind it where the message is text."""

    marker: str
    said: str


def turn_shape(fmt: Format, wanted: Wanted) -> Shape:
    """The shape of what is still to come of a turn."""
    shape = _shape(fmt, wanted)
    message = next((node for node in walk(fmt.turn) if isinstance(node, Messages)), None)
    begun = _begun(message, wanted.opening) if message is not None else None
    if begun is None:
        return shape
    if not isinstance(shape, Watched):
        return after_text(shape, begun.marker) or shape
    more = () if shape.once else (shape,)
    calls = (all_of(Const(text.removeprefix(begun.marker)), rest, *more) for text, rest in shape.rules)
    return one_of(all_of(Const(begun.said), shape), *calls)


def _begun(turn: Messages, opening: str) -> Begun | None:
    """What the prompt wrote, where that is what each message of a turn begins with: a call as well as text."""
    said, call = turn.answer.opener, next((leading_marker(nodes[0]) for nodes, _ in beginnings(turn.calls, several=False)), None)
    if said is None or call is None or not call.text or not said.text.startswith(call.text) or not opening.endswith(call.text):
        return None
    return Begun(call.text, said.text.removeprefix(call.text))


def _shape(fmt: Format, wanted: Wanted) -> Shape:
    """The shape of a turn, of which the prompt wrote no more than its thinking."""
    block, between = _calls_of(fmt)
    thinking = thinking_of(fmt.turn)
    if thinking is not None and between is not None:
        thinking = replace(thinking, after=between, interruptible=True, foreign=_other_messages(fmt.turn, thinking))
    elif thinking is not None and thinking.interruptible:
        thinking = replace(thinking, foreign=_behind_reasoning(fmt.turn))
    state = _state(thinking, wanted.opening)
    calls = Calls(wanted.tools, wanted.parallel)
    if wanted.must:
        return _calls_only(calls, block, between, thinking if state != "over" else None, state)
    inside = thinking.closers if thinking is not None and thinking.interruptible and state != "over" else ()
    rules = tuple(_starts(calls, block, inside))
    if thinking is None or thinking.interruptible or state == "over":
        return Watched(rules, once=not wanted.parallel)
    barred = thinking.openers if state == "ahead" else ()
    return _thought(thinking, state, Watched(rules, once=not wanted.parallel, barred=barred), ())


def _other_messages(turn: Node, thinking: Thinking) -> tuple[str, ...]:
    """In a turn made of messages: the texts that begin or end one which is neither reasoning nor a call."""
    texts: list[str] = []
    for node in walk(turn):
        if isinstance(node, Messages):
            markers = (*node.said(), *((node.between,) if node.between is not None else ()))
            texts.extend(text for marker in markers for text in marker.texts())
            texts.extend(text for other in node.others for text in first_texts((other,))[0])
    return tuple(text for text in dict.fromkeys(texts) if text not in thinking.closers)


def _behind_reasoning(turn: Node) -> tuple[str, ...]:
    """Where the closer of reasoning may be missing: the markers, other than those of calls, that end it in its place."""
    nodes = turn.nodes if isinstance(turn, Seq) else ()
    at = next((place for place, node in enumerate(nodes) if thinking_of(node) is not None), len(nodes))
    return first_texts(nodes[at + 1 :])[0]


def _calls_of(fmt: Format) -> tuple[Node, str | None]:
    """The calls of a format, and what is written between two messages where its turns are made of messages."""
    for node in walk(fmt.turn):
        if isinstance(node, Messages):
            return node.calls, node.between.text if node.between is not None else ""
        if isinstance(node, Interleaved) and holds_call(node.node):
            return node.node, None
    raise ConstraintError(f"the format {fmt.name} cannot be constrained")


def _state(thinking: Thinking | None, opening: str) -> State:
    """Where the prompt left off."""
    if thinking is None:
        return "over"
    opened = max(opening.rfind(text) for text in thinking.openers)
    closed = max(opening.rfind(text) for text in thinking.closers)
    if opened > closed:
        return "open"
    return "over" if opening.strip() else "ahead"


def _thought(thinking: Thinking, state: State, then: Shape, starts: tuple[str, ...]) -> Shape:
    opener = None if state == "open" else thinking.opener
    return Thought(opener, thinking.closers, thinking.after, starts, thinking.foreign, then)


def _calls_only(calls: Calls, block: Node, between: str | None, thinking: Thinking | None, state: State) -> Shape:
    lead, core = _without_gap(block)
    one = calls.shape(core, Place(behind=first_texts((core,))[0]))
    blocks = Several(one, lead if between is None else between) if calls.parallel and not writes_all(core) else one
    if lead:
        blocks = all_of(Maybe(Const(lead)), blocks)
    if thinking is None:
        return blocks
    starts = tuple(text for text, _ in _starts(calls, block, ())) if thinking.interruptible else ()
    return _thought(thinking, state, blocks, starts)


def _without_gap(block: Node) -> tuple[str, Node]:
    """The gap that sets a block off from what stands before it, and the block as it is written."""
    match block:
        case Either(nodes):
            return _without_gap(nodes[0])
        case Seq((Gap(text), *rest)):
            return text, Seq(tuple(rest))
        case _:
            return "", block


def _starts(calls: Calls, block: Node, breaks: tuple[str, ...]) -> list[tuple[str, Shape]]:
    """The texts with which the parser begins a call in free text, and how each must go on. `breaks`: what ends it anywhere."""
    found: dict[str, Shape] = {}
    place = Place(behind=first_texts((block,))[0], breaks=breaks)
    for nodes, _ in beginnings(block, several=calls.parallel):
        for text, rest in _start(calls, nodes, place):
            found.setdefault(text, rest)
    return [(text, rest) for text, rest in found.items() if not any(other != text and other in text for other in found)]


def _start(calls: Calls, nodes: tuple[Node, ...], place: Place) -> Iterator[tuple[str, Shape]]:
    head = leading_marker(nodes[0])
    if head is not None and not head.led and any(character.isalnum() for character in head.text):
        for text in head.texts():
            written = Marker(text + head.text[len(head.text.rstrip()) :])
            shape = calls.sequence((led_by(nodes[0], written), *nodes[1:]), place)
            yield text, _rest(shape, text)
        return
    first, separator = up_to_call(nodes) if calls.parallel else (nodes, "")
    yield from _named(calls, first, place)
    if separator.strip():
        yield from _named(calls, (Marker(separator), first[-1]), place)


def _named(calls: Calls, nodes: tuple[Node, ...], place: Place) -> Iterator[tuple[str, Shape]]:
    """Beginnings that occur in any text, such as a bracket: only together with a tool's name they begin a call."""
    for tool in calls.tools:
        shape = Calls((tool,), parallel=False).sequence(nodes, place)
        begun = shape.parts[0] if isinstance(shape, All) else shape
        if isinstance(begun, Const) and tool.name in begun.text:
            text = begun.text[: begun.text.index(tool.name) + len(tool.name) + 1]
            yield text, _rest(shape, text)


def _rest(shape: Shape, text: str) -> Shape:
    rest = after_text(shape, text)
    if rest is None:
        raise ConstraintError(f"no call can begin with {text!r}")
    return rest
