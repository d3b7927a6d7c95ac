"""What may end a free text."""

from functools import lru_cache

from ..automaton import Position
from ..description import Marker, Text
from .boundary import in_order
from .name_first import names_behind
from .strays import Channel


@lru_cache(maxsize=4096)
class TextTable:
    """What may end a free text, computed once per position."""

    def __init__(self, before: Position) -> None:
        position = before if isinstance(before.leaf, Text) else before.text
        assert position is not None
        assert isinstance(position.leaf, Text)
        self.position = position
        self.channel: Channel = position.leaf.channel
        self.markers = position.markers | before.markers
        self.openers = position.openers | before.openers
        targets = self.markers | self.openers
        leaves = [(text, target.leaf) for text, target in self.markers.items()]
        spaced = {text for text, leaf in leaves if isinstance(leaf, Marker) and leaf.text[:1] == " "}
        going_on = {text for text, target in before.markers.items() if position.markers.get(text) is not target}
        self.own = frozenset(going_on | spaced)
        """Markers that go on with what `before` began, or are written with a space; white space before them is theirs."""
        self.bare = frozenset(text for text, target in targets.items() if target.bare)
        into_call = {text for text, target in self.markers.items() if target.text is None} | self.openers.keys()
        self.names = names_behind(self.markers) if self.channel == "content" else {}
        self.drafts = frozenset(into_call if self.channel == "reasoning" else self.bare)

    def watched(self, others: tuple[str, ...], *, drafts: bool) -> tuple[str, ...]:
        """The texts to look for, with `others` that mean nothing here; without those that begin a draft unless `drafts`."""
        texts = {*self.markers, *self.openers}
        return in_order([*(texts if drafts else texts - self.drafts), *others])
