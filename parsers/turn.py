"""The parser that users of this package get: a turn read by its description, with two things known only about turns as a whole.

*Where it begins.* The prompts of some models always open or close the thinking. A turn of theirs that is read without its opening
may begin inside the thinking; its text waits until a marker, or the end, tells. A caller that knows the prompt says so.

*What it is not.* A turn whose calls are in another family's markers keeps them as text, and a notice names the format.
"""

import re
from functools import lru_cache

from .automaton import reachable
from .description import Format, Marker, Text
from .dialect import likely_format
from .events import Notice
from .message import Tools
from .parser import Parser as TurnParser
from .parser import compiled
from .readers import Reader
from .readers.boundary import boundary, in_order
from .readers.cut_off import cut_off


class Parser(TurnParser):
    """Reads one turn of one format.

    `tools` are those a call may name: Tool or OpenAI's shape; None = not known, any name is a call and untyped values stay
    strings; empty = none, so nothing is a call. `opening` is what the prompt already wrote of the turn; of its events
    only those of a call that it leaves open are told.
    `prompt_known`: an empty opening means that the prompt wrote nothing of the turn, not that nobody knows.
    """

    def __init__(self, fmt: Format, *, tools: Tools = None, opening: str = "", prompt_known: bool = False) -> None:
        super().__init__(fmt, tools=tools, opening=opening)
        unknown = fmt.thinks_in_prompt and not opening and not prompt_known
        if unknown:
            self.reader = _StartReader(fmt, self.reader)

    def closing_notices(self) -> list[Notice]:
        """A notice when the content carries a call to a declared tool in another format."""
        if not self.calls.tools or self.calls.index >= 0:
            return []
        found = likely_format("".join(self.output.content), self.format, tools=tuple(self.calls.tools.values()))
        if found is None:
            return []
        detail = f"the turn carries a call in the format {found}, but the parser is set to {self.format.name}"
        return [Notice("dialect", detail)]


class _StartReader(Reader):
    """Reads the beginning of a turn whose prompt nobody knows: text, until a marker tells whether it was thinking.

    A marker that opens the thinking at the beginning of a turn only tells nothing behind other text.
    """

    __slots__ = ("_behind", "_blank", "_closers", "_first", "_opener", "_others", "_parts", "_pattern", "_tail")

    def __init__(self, fmt: Format, behind: Reader) -> None:
        self._opener, self._closers, self._others, self._first = _start_markers(fmt)
        self._blank = True
        self._pattern = boundary(in_order([*self._closers, *self._others]))
        self._behind = behind
        self._parts: list[str] = []
        self._tail = ""

    def read(self, parser: TurnParser) -> bool:
        text = parser.buffer[parser.at :]
        parser.at = len(parser.buffer)
        self._parts.append(text)
        window = self._tail + text
        match = self._telling(window)
        if match is None or match.group(1) is None:
            self._tail = "" if match is None else window[match.start() :]
            self._blank = self._blank and not window[: len(window) - len(self._tail)].strip()
            return False
        self._begin(parser, self._opener if match.group(1) in self._closers else "")
        return True

    def _telling(self, window: str) -> re.Match[str] | None:
        """The first marker that tells, or the beginning of one at the end."""
        match = self._pattern.search(window)
        while match is not None and match.group(1) in self._first and not (self._blank and not window[: match.start()].strip()):
            match = self._pattern.search(window, match.end())
        return match

    def finish(self, parser: TurnParser) -> bool:
        self._begin(parser, self._opener if self._ends_in_closer() else "")
        return True

    def _ends_in_closer(self) -> bool:
        """Whether the turn was cut off inside a token that can only close the thinking."""
        beginnings = [marker for marker in (*self._closers, *self._others) if self._tail and marker.startswith(self._tail)]
        return bool(beginnings) and cut_off(tuple(beginnings), self._tail, 0) == 0 and set(beginnings) <= self._closers

    def _begin(self, parser: TurnParser, opener: str) -> None:
        """Read the turn from its first character, behind the opener that the prompt must have written."""
        parser.reader = self._behind
        parser.buffer, parser.at = opener + "".join(self._parts), 0


@lru_cache(maxsize=64)
def _start_markers(fmt: Format) -> tuple[str, frozenset[str], tuple[str, ...], frozenset[str]]:
    """The marker that opens the thinking, those that close it, and those that may stand first in a turn that does not think;
    of the last, those that open the thinking at the beginning of a turn only."""
    opener, closers = "", set[str]()
    openers: set[str] = set()
    others: set[str] = set()
    in_content: set[str] = set()
    for position in reachable(compiled(fmt)):
        reasoning = position.text
        if reasoning is not None and isinstance(reasoning.leaf, Text) and reasoning.leaf.channel == "reasoning":
            if isinstance(position.leaf, Marker) and position.leaf.texts()[0] in compiled(fmt).markers:
                opener = opener or position.leaf.text
                openers.update(position.leaf.texts())
            closers.update(text for text, target in reasoning.markers.items() if target.text is not None)
        elif isinstance(position.leaf, Text) and position.leaf.channel == "content":
            in_content.update(position.markers)
            others.update(text for text, target in position.markers.items() if target.text is None)
    closers -= in_content
    others |= openers
    return opener, frozenset(closers), tuple(sorted(others - closers)), frozenset(openers - in_content - closers)
