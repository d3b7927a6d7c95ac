"""The state in which the prompt leaves a turn, and what of the prompt's own text must never be given out."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ..events import ToolCallArguments, ToolCallStart
from .text import TextReader

if TYPE_CHECKING:
    from ..parser import Parser


def begin_behind(parser: "Parser", opening: str) -> None:
    """Read what the prompt wrote of the turn. Of its events only those of a call that is still open are kept."""
    said = parser.feed(opening)
    if parser.draft is not None:
        said += parser.draft.events
        parser.draft.forget()
    if parser.held is not None:
        parser.held = []
    parser.wrote_content = isinstance(parser.reader, TextReader) and parser.reader.forget(parser)
    parser.unsaid = len(parser.buffer) - parser.at
    tells = parser.call_open and not parser.muted
    of_call = (event for event in said if isinstance(event, (ToolCallStart, ToolCallArguments)) and event.index == parser.index)
    parser.events[:] = [replace(event, index=0) for event in of_call if tells]
    parser.index, parser.completed, parser.truncated = (0 if tells else -1), 0, False
    parser.content.clear()
    parser.between.clear()
    parser.lead = ""


def without_unsaid(parser: "Parser", text: str) -> str:
    """Text that is given back, without the prompt's part of it, which may go on in the buffer."""
    own = text[parser.unsaid :]
    parser.at += max(0, parser.unsaid - len(text))
    parser.unsaid = 0
    return own
