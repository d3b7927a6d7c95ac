"""A call inside open reasoning, and one that no marker announces, is believed only once the turn ends behind it."""

from dataclasses import dataclass, field

from ..readers.text import TextReader
from .calls import NO_CALLS, Calls, Counts
from .output import Output

_LIMIT = 4
"""Drafts per turn that may turn out to be text; after that markup in reasoning is reasoning. Keeps the parser linear."""


@dataclass(slots=True)
class Draft:
    """Where a draft began, and the text that was read since."""

    home: TextReader
    marker: str
    space: list[str]
    counts: Counts
    content: int
    wrote_content: bool
    raw: list[str] = field(default_factory=list)

    def forget(self) -> None:
        """All of it so far was the prompt's: none of it will be given back."""
        self.marker, self.counts, self.content = "", NO_CALLS, 0
        self.space, self.raw = [], []


class Drafts:
    """The open draft, if there is one: from its beginning on no event is given out."""

    __slots__ = ("_calls", "_output", "left", "open")

    def __init__(self, calls: Calls, output: Output) -> None:
        self._calls = calls
        self._output = output
        self.open: Draft | None = None
        self.left = _LIMIT

    def begin(self, home: TextReader, marker: str, space: list[str]) -> None:
        """A draft begins with this marker, inside the text that `home` reads, unless one is open."""
        if self.open is None:
            output = self._output
            self.open = Draft(home, marker, list(space), self._calls.counts, len(output.content), output.wrote_content)
            output.divert()

    def abandon(self, draft: Draft) -> None:
        """The draft was text: nothing of what it brought about remains."""
        self.open = None
        self.left -= 1
        self._calls.reset(draft.counts)
        self._output.discard()
        self._output.wrote_content = draft.wrote_content
        del self._output.content[draft.content :]

    def believe(self) -> None:
        """The turn ended behind the draft: it was a call."""
        self.open = None
        self._output.release()
