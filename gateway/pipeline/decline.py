"""Calls of the hidden function with which a model declines: their words become content, and no trace of them is left."""

import json
import re
from dataclasses import dataclass

from gateway.planning.no_tool import WORDS
from parsers import ContentDelta, Event, Finish, ToolCallArguments, ToolCallEnd, ToolCallStart

OPENED = re.compile(rf'\{{\s*"{WORDS}"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL)


@dataclass(slots=True)
class Decline:
    """Replaces the calls of one hidden function in the events of one choice; the other calls are counted on without gaps."""

    name: str
    declined: bool = False
    """Words were given instead of a call."""
    _fragments: list[str] | None = None
    _hidden: int = 0
    _calls: int = 0

    def without(self, events: list[Event]) -> list[Event]:
        """The same events as the client may see them."""
        return [seen for event in events if (seen := self._seen(event)) is not None]

    def _seen(self, event: Event) -> Event | None:
        match event:
            case ToolCallStart(name=name) if name == self.name:
                self._fragments = []
                self._hidden += 1
                return None
            case ToolCallArguments(fragment=fragment) if self._fragments is not None:
                self._fragments.append(fragment)
                return None
            case ToolCallEnd() if self._fragments is not None:
                words = words_of("".join(self._fragments), complete=event.complete)
                self._fragments = None
                self.declined |= bool(words) and event.complete
                return ContentDelta(words) if words else None
            case ToolCallStart(index, name, call_id):
                self._calls += 1
                return ToolCallStart(index - self._hidden, name, call_id)
            case ToolCallArguments(index, fragment):
                return ToolCallArguments(index - self._hidden, fragment)
            case ToolCallEnd(index, complete, late_id):
                return ToolCallEnd(index - self._hidden, complete, late_id)
            case Finish("tool_calls") if not self._calls:
                return Finish("stop")
            case _:
                return event


def words_of(arguments: str, *, complete: bool) -> str:
    """The words in the hidden function's arguments; of arguments that were cut short, those that had come."""
    try:
        if complete:
            found = json.loads(arguments).get(WORDS)
            return found if isinstance(found, str) else ""
        opened = OPENED.match(arguments)
        text = re.sub(r"\\u[0-9a-fA-F]{0,3}$", "", opened[1]) if opened else ""
        return str(json.loads(f'"{text}"', strict=False))
    except (ValueError, AttributeError, RecursionError):
        return ""
