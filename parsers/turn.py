"""The parser that users of this package get: a turn read by its description, with two things known only about turns as a whole.

*Where it begins.* The prompts of some models always open or close the thinking. A turn of theirs that is read without its opening
may begin inside the thinking; its text waits until a marker, or the end, tells. A caller that knows the prompt says so.

*What it is not.* A turn whose calls are in another family's markers keeps them as text, and a notice names the format.
"""

from functools import lru_cache

from .automaton import reachable
from .description import Format, Marker, Node, Text
from .dialect import likely_format
from .events import Event, Notice
from .message import Tools
from .parser import Parser as TurnParser
from .parser import compiled
from .readers.boundary import boundary, in_order


class Parser(TurnParser):
    """Reads one turn of one format.

    `tools` are those a call may name: Tool or OpenAI's shape; None = not known, any name is a call and untyped values stay
    strings; empty = none, so nothing is a call. `opening` is what the prompt already wrote of the turn; its events are dropped.
    `prompt_known`: an empty opening means that the prompt wrote nothing of the turn, not that nobody knows.
    """

    def __init__(self, fmt: Format, *, tools: Tools = None, opening: str = "", prompt_known: bool = False) -> None:
        self._start: _Start | None = None
        super().__init__(fmt, tools=tools, opening=opening)
        unknown = fmt.thinks_in_prompt and not opening and not prompt_known
        if unknown:
            self._start = _Start(fmt.turn)

    def feed(self, text: str) -> list[Event]:
        if self._start is None:
            return super().feed(text)
        if not self._start.told_by(text):
            return []
        return self._begin()

    def finish(self, reason: str = "stop") -> list[Event]:
        """The events that the end of the turn completes; the last one is Finish. `reason` is why the engine stopped."""
        events = self._begin() if self._start is not None else []
        return events + super().finish(reason)

    def _begin(self) -> list[Event]:
        start = self._start
        assert start is not None
        self._start = None
        if start.in_thinking:
            super().feed(start.opener)
        return super().feed(start.text)

    def closing_notices(self) -> list[Notice]:
        """A notice when the content carries a call to a declared tool in another format."""
        if not self.tools or self.index >= 0:
            return []
        found = likely_format("".join(self.content), self.format, tools=tuple(self.tools.values()))
        if found is None:
            return []
        detail = f"the turn carries a call in the format {found}, but the parser is set to {self.format.name}"
        return [Notice("dialect", detail)]


class _Start:
    """The beginning of a turn whose prompt nobody knows: text, until a marker tells whether it was thinking."""

    def __init__(self, turn: Node) -> None:
        self.opener, self._closers, others = _start_markers(turn)
        self._pattern = boundary(in_order([*self._closers, *others]))
        self._parts: list[str] = []
        self._tail = ""
        self.in_thinking = False

    @property
    def text(self) -> str:
        """All that has arrived."""
        return "".join(self._parts)

    def told_by(self, text: str) -> bool:
        """Whether this text brings the marker that tells."""
        self._parts.append(text)
        window = self._tail + text
        match = self._pattern.search(window)
        if match is None or match.group(1) is None:
            self._tail = "" if match is None else window[match.start() :]
            return False
        self.in_thinking = match.group(1) in self._closers
        return True


@lru_cache(maxsize=64)
def _start_markers(turn: Node) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """The marker that opens the thinking, those that close it, and those that may stand first in a turn that does not think."""
    opener, closers = "", set[str]()
    others: set[str] = set()
    in_content: set[str] = set()
    for position in reachable(compiled(turn)):
        reasoning = position.text
        if reasoning is not None and isinstance(reasoning.leaf, Text) and reasoning.leaf.channel == "reasoning":
            if isinstance(position.leaf, Marker) and position.leaf.texts()[0] in compiled(turn).markers:
                opener = opener or position.leaf.text
                others.update(position.leaf.texts())
            closers.update(text for text, target in reasoning.markers.items() if target.text is not None)
        elif isinstance(position.leaf, Text) and position.leaf.channel == "content":
            in_content.update(position.markers)
            others.update(text for text, target in position.markers.items() if target.text is None)
    closers -= in_content
    return opener, frozenset(closers), tuple(sorted(others - closers))
