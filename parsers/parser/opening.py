"""The state in which the prompt leaves a turn."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ..events import ToolCallArguments, ToolCallStart
from ..readers.text import TextReader

if TYPE_CHECKING:
    from . import Parser


def begin_behind(parser: "Parser", opening: str) -> None:
    """Read what the prompt wrote of the turn. Of its events only those of a call that is still open are kept."""
    calls, output = parser.calls, parser.output
    said = parser.feed(opening)
    draft = parser.drafts.open
    if draft is not None:
        said += output.events
        draft.forget()
    if parser.framing.held is not None:
        parser.framing.held = []
    output.wrote_content = isinstance(parser.reader, TextReader) and parser.reader.forget(parser)
    parser.unsaid = len(parser.buffer) - parser.at
    tells = calls.open and not calls.muted
    of_call = (event for event in said if isinstance(event, (ToolCallStart, ToolCallArguments)) and event.index == calls.index)
    output.events[:] = [replace(event, index=0) for event in of_call if tells]
    calls.index, calls.completed, calls.truncated = (0 if tells else -1), 0, False
    output.content.clear()
    output.between.clear()
    output.lead = ""
