"""The language of model turns: text to events, messages to text, tools to grammars. Standard library only, no I/O."""

from .description import Format
from .errors import ConstraintError, FormatError, ParsersError, UnknownFormat, UnwritableError
from .events import (
    ContentDelta,
    Event,
    Finish,
    Notice,
    NoticeKind,
    ReasoningDelta,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    normal,
)
from .fold import fold
from .grammars import constraint
from .message import Message, Tool, ToolCall, ToolLike, Tools
from .passage import Delta, Passage
from .registry import detect, get, names
from .round_trip import write
from .turn import Parser

__all__ = [
    "ConstraintError",
    "ContentDelta",
    "Delta",
    "Event",
    "Finish",
    "Format",
    "FormatError",
    "Message",
    "Notice",
    "NoticeKind",
    "Parser",
    "ParsersError",
    "Passage",
    "ReasoningDelta",
    "Tool",
    "ToolCall",
    "ToolCallArguments",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolLike",
    "Tools",
    "UnknownFormat",
    "UnwritableError",
    "constraint",
    "detect",
    "fold",
    "get",
    "names",
    "normal",
    "write",
]
