"""Questions about a description's tree: what it holds, which texts it begins with, how a turn thinks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..description import (
    Bare,
    Call,
    Either,
    Gap,
    Interleaved,
    JsonCall,
    Many,
    Marker,
    Messages,
    NameKeyedCall,
    Node,
    NumberedName,
    Optional,
    PythonCall,
    Seq,
    Soft,
    TaggedArguments,
    Text,
    ToolName,
    Unwritten,
)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    match node:
        case Seq(nodes) | Either(nodes):
            return nodes
        case Optional(child) | Soft(child) | Unwritten(child) | Call(child) | Bare(child):
            return (child,)
        case Many(child):
            return (child,)
        case Interleaved(text, child):
            return (text, child)
        case Messages(calls=calls, thinking=thinking):
            return (calls,) if thinking is None else (thinking, calls)
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def holds_call(node: Node) -> bool:
    """Whether a call is written somewhere below."""
    return any(isinstance(each, Call | JsonCall | NameKeyedCall | PythonCall | ToolName | NumberedName) for each in walk(node))


def writes_all(node: Node) -> bool:
    """Whether a node, as it is written, holds all calls of a turn, not one."""
    match node:
        case Many():
            return True
        case Either(nodes):
            return writes_all(nodes[0])
        case Unwritten() | Bare():
            return False
        case _:
            return any(writes_all(child) for child in children(node))


def first_texts(nodes: Sequence[Node]) -> tuple[tuple[str, ...], bool]:
    """The markers that may be read first, and whether one of them must: False if all nodes may be missing."""
    texts: list[str] = []
    for node in nodes:
        found, must = _first_of(node)
        texts.extend(found)
        if must:
            return tuple(texts), True
    return tuple(texts), False


def _first_of(node: Node) -> tuple[tuple[str, ...], bool]:
    match node:
        case Marker():
            return node.texts(), True
        case Gap() | Text():
            return (), False
        case TaggedArguments(header=header):
            return (header.partition("{")[0].split(" ")[0].rstrip('"').strip(),), False
        case Seq(nodes):
            return first_texts(nodes)
        case Soft(child) | Optional(child) | Unwritten(child):
            return _first_of(child)[0], False
        case Either(nodes):
            parts = [_first_of(child) for child in nodes]
            return tuple(text for texts, _ in parts for text in texts), all(must for _, must in parts)
        case Call(child) | Many(child):
            return _first_of(child)
        case _:
            return (), True


# ---- how a call may begin
def beginnings(node: Node, *, several: bool) -> Iterator[tuple[tuple[Node, ...], bool]]:
    """The ways in which the parser lets a call begin, each as the nodes from there on, and whether they were cut.

    `several`: calls may follow one another. Then a way ends with its first call, because the next begins by itself.
    """
    match node:
        case Gap() | Bare():
            return
        case Seq(nodes):
            yield from _beginnings_of_sequence(nodes, several=several)
        case Soft() | Optional() | Unwritten() | Either():
            for child in children(node):
                yield from beginnings(child, several=several)
        case Many(child):
            for begun, cut in beginnings(child, several=several):
                yield begun, cut or several
        case Call(child):
            for begun, cut in beginnings(child, several=several):
                yield (Call(Seq(begun)),), cut
        case _:
            yield (node,), False


def _beginnings_of_sequence(nodes: tuple[Node, ...], *, several: bool) -> Iterator[tuple[tuple[Node, ...], bool]]:
    for at, child in enumerate(nodes):
        for begun, cut in beginnings(child, several=several):
            yield (begun if cut else (*begun, *nodes[at + 1 :])), cut
        if not isinstance(child, Gap | Soft | Optional | Unwritten | TaggedArguments | Text):
            return


def up_to_call(nodes: tuple[Node, ...]) -> tuple[tuple[Node, ...], str]:
    """The nodes up to their first call, and the text that must stand before a second one ("" when there is none)."""
    for at, node in enumerate(nodes):
        if isinstance(node, Many):
            return (*nodes[:at], node.node), node.separator if node.tight else ""
        if holds_call(node):
            return nodes[: at + 1], ""
    return nodes, ""


def leading_marker(node: Node) -> Marker | None:
    """The marker a node is written with first."""
    match node:
        case Marker():
            return node
        case Seq(nodes) if nodes:
            return leading_marker(nodes[0])
        case Call(child):
            return leading_marker(child)
        case _:
            return None


def led_by(node: Node, marker: Marker) -> Node:
    """The node with another leading marker."""
    match node:
        case Seq(nodes):
            return Seq((led_by(nodes[0], marker), *nodes[1:]))
        case Call(child):
            return Call(led_by(child, marker))
        case _:
            return marker


# ---- thinking
@dataclass(frozen=True, slots=True)
class Thinking:
    """How a format writes its reasoning. `interruptible`: a call inside it ends it. `after` is written behind the closer.

    `foreign`: texts that end it too, for something that is no call.
    """

    openers: tuple[str, ...]
    closers: tuple[str, ...]
    opener: str
    after: str
    interruptible: bool
    foreign: tuple[str, ...] = ()


def thinking_of(turn: Node) -> Thinking | None:
    """The reasoning of a format, None when it has none that stands between two markers."""
    for node in walk(turn):
        if isinstance(node, Seq) and any(isinstance(child, Text) and child.channel == "reasoning" for child in node.nodes):
            return _thinking(node.nodes)
    return None


def _thinking(nodes: tuple[Node, ...]) -> Thinking | None:
    at = next(i for i, node in enumerate(nodes) if isinstance(node, Text))
    before = [node for node in nodes[:at] if not isinstance(node, Gap)]
    behind = [node for node in nodes[at + 1 :] if not isinstance(node, Gap)]
    openers, _ = first_texts(before)
    closers, _ = first_texts(behind[:1])
    if not openers or not closers:
        return None
    closer = next(i for i, node in enumerate(nodes) if i > at and not isinstance(node, Gap))
    after = "".join(node.text for node in nodes[closer + 1 :] if isinstance(node, Gap | Marker))
    opener = "".join(node.text for node in nodes[:at] if isinstance(node, Marker))
    return Thinking(openers, closers, opener, after, isinstance(nodes[closer], Soft))
