"""Thinking as part of the content, between the tags that many models write themselves."""

from collections.abc import Iterable

from parsers import ContentDelta, Event, Notice, ReasoningDelta

OPENER, CLOSER = "<think>\n", "\n</think>\n\n"


class InContent:
    """Events in, the same events without thinking out. For one choice, from its first event on."""

    def __init__(self) -> None:
        self._inside = False

    def passed(self, events: Iterable[Event]) -> list[Event]:
        """The events as a client sees them that knows no thinking."""
        found: list[Event] = []
        for event in events:
            if isinstance(event, ReasoningDelta):
                found.append(ContentDelta(event.text if self._inside else OPENER + event.text))
                self._inside = True
                continue
            if self._inside and not isinstance(event, Notice):
                found.append(ContentDelta(CLOSER))
                self._inside = False
            found.append(event)
        return found
