"""A description compiled to positions: every leaf is one, `follow` says which leaves may come next (Glushkov's construction).

Compilation refuses what a parser could not decide: two regions or two equal markers that may follow one another, a name that
nothing ends, a bare region after free text. It happens once per format, when the format is first used or tested.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from .description import (
    Bare,
    Call,
    CallId,
    Either,
    ElementArguments,
    Filler,
    Gap,
    Interleaved,
    JsonArguments,
    JsonCall,
    Leaf,
    Many,
    Marker,
    Messages,
    NameKeyedCall,
    Node,
    NumberedName,
    Optional,
    PythonCall,
    QuotedArguments,
    Seq,
    Soft,
    TaggedArguments,
    Text,
    ToolName,
    Unwritten,
)
from .errors import FormatError

SHORTEST_TAG = 3
"""Characters of a marker that may be read twice: brackets and commas may not."""


@dataclass(eq=False, slots=True)
class Position:
    """One leaf of a description. `scope` numbers the call it belongs to, 0 is outside of any. `says`: content stands beside it,
    unless another marker with its text may come next."""

    leaf: Leaf | None
    scope: int = 0
    bare: bool = False
    says: bool = False
    follow: list["Position"] = field(default_factory=list)
    opens_scope: bool = False
    closes_scope: bool = False
    accepting: bool = False
    markers: dict[str, "Position"] = field(default_factory=dict)
    """Texts that may come next, and the position each leads to."""
    openers: dict[str, "Position"] = field(default_factory=dict)
    """Texts with which a region that may come next begins; the region itself reads them."""
    fallback: "Position | None" = None
    """The region that may come next and begins with no fixed text."""
    text: "Position | None" = None
    """The free text that may come next."""


@dataclass(frozen=True, slots=True)
class _Part:
    nullable: bool
    first: tuple[Position, ...]
    last: tuple[Position, ...]


_EMPTY = _Part(True, (), ())


class _Compiler:
    def __init__(self) -> None:
        self.positions: list[Position] = []
        self.scopes = 0

    def part(self, node: Node, scope: int) -> _Part:
        match node:
            case Gap() | Marker() if isinstance(node, Gap) or not node.texts():
                return _EMPTY
            case Seq(nodes):
                return self.sequence([self.part(child, scope) for child in nodes])
            case Optional(child) | Soft(child) | Unwritten(child):
                inner = self.part(child, scope)
                return _Part(True, inner.first, inner.last)
            case Either(nodes):
                return self.choice([self.part(child, scope) for child in nodes])
            case Many():
                return self.repeated(node, scope)
            case Bare(child):
                inner = self.part(child, scope)
                for position in inner.first:
                    position.bare = True
                return inner
            case Call(child):
                return self.call(child)
            case Interleaved() | Messages():
                return self.around_text(node, scope)
            case _:
                return self.leaf(node, scope)

    def around_text(self, node: Interleaved | Messages, scope: int) -> _Part:
        if isinstance(node, Messages):
            return self.messages(node, scope)
        return self.interleaved(self.part(node.text, scope), self.part(node.node, scope))

    def leaf(self, leaf: Leaf, scope: int) -> _Part:
        position = Position(leaf, scope)
        self.positions.append(position)
        last = (position, self.surplus_brace(position)) if isinstance(leaf, JsonArguments | JsonCall) else (position,)
        return _Part(isinstance(leaf, Text | TaggedArguments | ElementArguments), (position,), last)

    def surplus_brace(self, position: Position) -> Position:
        """What models write behind JSON once or more too often."""
        surplus = Position(Marker("}", repairs="a surplus }"))
        self.positions.append(surplus)
        link((position, surplus), (surplus,))
        return surplus

    def sequence(self, parts: list[_Part]) -> _Part:
        whole = _EMPTY
        for part in parts:
            link(whole.last, part.first)
            first = whole.first + part.first if whole.nullable else whole.first
            last = whole.last + part.last if part.nullable else part.last
            whole = _Part(whole.nullable and part.nullable, first, last)
        return whole

    def choice(self, parts: list[_Part]) -> _Part:
        first = tuple(position for part in parts for position in part.first)
        last = tuple(position for part in parts for position in part.last)
        return _Part(any(part.nullable for part in parts), first, last)

    def repeated(self, node: Many, scope: int) -> _Part:
        inner = self.part(node.node, scope)
        separator = _EMPTY
        if node.separator.strip() or node.spellings:
            separator = self.leaf(Marker(node.separator, node.spellings), scope)
            link(inner.last, separator.first)
            link(separator.last, inner.first)
        if not node.tight or not separator.first:
            link(inner.last, inner.first)
        return inner

    def call(self, child: Node) -> _Part:
        self.scopes += 1
        inner = self.part(child, self.scopes)
        for position in inner.first:
            position.opens_scope = True
        return inner

    def interleaved(self, text: _Part, inner: _Part) -> _Part:
        link(text.last, inner.first)
        link(inner.last, text.first)
        link(inner.last, inner.first)
        return _Part(True, text.first + inner.first, text.last + inner.last)

    def messages(self, node: Messages, scope: int) -> _Part:
        """Free text with messages embedded; the content of a message is that same free text."""
        parts = [self.part(child, scope) for child in (node.thinking, node.calls, *node.others) if child is not None]
        said = [self.leaf(marker, scope) for marker in node.said()]
        for part in said:
            part.first[0].says = True
        parts += said
        if node.between is not None:
            parts.append(self.leaf(node.between, scope))
        return self.interleaved(self.part(node.text, scope), self.choice(parts))


def link(before: tuple[Position, ...], after: tuple[Position, ...]) -> None:
    """Let each of `after` follow each of `before`."""
    for position in before:
        for following in after:
            if following.bare and not (position.leaf is None or isinstance(position.leaf, Text)):
                continue  # believed only as the whole content: nothing but text or thinking stands before it
            if isinstance(following.leaf, Marker) and following.leaf.led and isinstance(position.leaf, Text):
                continue
            if following not in position.follow:
                position.follow.append(following)


def opening_texts(leaf: Leaf | None) -> tuple[str, ...]:
    """The texts with which a region may begin; none for regions that begin with anything."""
    match leaf:
        case JsonArguments() | JsonCall() | NameKeyedCall():
            return ("{",)
        case ElementArguments(prefix):
            return (prefix + "<",)
        case QuotedArguments():
            return ("{", "(")
        case TaggedArguments(header=header):
            return (header.partition("{")[0].split(" ")[0].rstrip('"').strip(),)
        case _:
            return ()


def _openers_behind(position: Position, leaf: Leaf | None) -> tuple[str, ...]:
    """The texts with which a region may begin here; arguments behind a marker may also hide in a string, or be missing."""
    hidden = ('"', "null") if isinstance(leaf, JsonArguments) and isinstance(position.leaf, Marker) else ()
    return (*opening_texts(leaf), *hidden)


def compile_turn(turn: Node) -> Position:
    """The start position of a turn; raises FormatError where a parser could not decide."""
    compiler = _Compiler()
    whole = compiler.part(turn, 0)
    start = Position(None)
    link((start,), whole.first)
    for position in whole.last:
        position.accepting = True
    start.accepting = whole.nullable
    for position in (start, *compiler.positions):
        _settle(position)
    for position in compiler.positions:
        _allow_twice(position, compiler.positions)
    return start


def reachable(start: Position) -> Iterator[Position]:
    """Every position, once."""
    seen: list[Position] = []
    pending = [start]
    while pending:
        position = pending.pop()
        if position not in seen:
            seen.append(position)
            pending.extend(position.follow)
    yield from seen


def _settle(position: Position) -> None:
    """Work out what may come next, and whether that can be told apart."""
    for following in position.follow:
        _enter(position, following)
    inside = [p for p in position.follow if p.scope == position.scope and not p.opens_scope]
    position.closes_scope = bool(position.scope) and not inside
    if isinstance(position.leaf, PythonCall | JsonCall | NameKeyedCall):
        position.closes_scope = True
    if position.scope and not position.closes_scope:
        position.text = None  # inside a call there is no free text, even where everything that follows may be missing
    if position.fallback is not None and position.text is not None:
        raise FormatError(f"{position.fallback.leaf} may follow the free text {position.text.leaf} with no marker between")
    if isinstance(position.leaf, ToolName | NumberedName | CallId | Filler) and not (position.markers or position.openers):
        raise FormatError(f"nothing ends {position.leaf}")


def _allow_twice(position: Position, all_positions: list[Position]) -> None:
    """Let a tag that models write twice follow itself; around text it would be a tag of the text."""
    leaf = position.leaf
    if not isinstance(leaf, Marker) or position.says or leaf.repairs:
        return
    if position.text is not None and any(isinstance(p.leaf, Text) and position in p.follow for p in all_positions):
        return
    for text in leaf.texts():
        if len(text) >= SHORTEST_TAG and text not in position.openers:
            position.markers.setdefault(text, position)


def _enter(position: Position, following: Position) -> None:
    """Note by what it is told that `following` comes next."""
    leaf = following.leaf
    if isinstance(leaf, Marker):
        for text in leaf.texts():
            _claim(position.markers, text, following, position)
    elif isinstance(leaf, Text):
        if position.text is None:
            position.text = following
        elif following not in position.text.follow:
            raise FormatError(f"two free texts may follow {position.leaf}")
    elif openers := _openers_behind(position, leaf):
        for text in openers:
            _claim(position.openers, text, following, position)
    elif position.fallback is not None:
        raise FormatError(f"two regions may follow {position.leaf}: {position.fallback.leaf} and {leaf}")
    else:
        position.fallback = following


def _claim(table: dict[str, Position], text: str, following: Position, position: Position) -> None:
    if table.setdefault(text, following) is not following and not following.says:
        raise FormatError(f"{text!r} may follow {position.leaf} in two ways: factor it out")
