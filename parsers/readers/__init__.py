"""One reader per kind of region. The contract, once:

`read(parser)` consumes from `parser.buffer[parser.at:]` with `parser.skip` (framing) or `parser.pass_text`, emits through its
`calls`, and moves on with `parser.go`, `parser.enter` or `parser.reject`. It returns True when it moved (call the current reader
again) and False when it needs more text. What it decides must not depend on how the text was cut: it waits until the text
decides. It never looks back, and what it holds it takes out of the buffer, so that nothing is searched twice.

`finish(parser)` is called once the text is at its end and `read` cannot go on; it returns whether the turn may end here.
"""

from typing import TYPE_CHECKING, Protocol

from ..automaton import Position
from ..description import (
    CallId,
    ElementArguments,
    Filler,
    JsonArguments,
    JsonCall,
    NameKeyedCall,
    NumberedName,
    PythonCall,
    QuotedArguments,
    TaggedArguments,
    ToolName,
)

if TYPE_CHECKING:
    from ..parser import Parser


class Reader(Protocol):
    """Reads one region, or what stands between two."""

    def read(self, parser: "Parser") -> bool:
        """Consume; True: it moved, go on; False: it needs more text."""
        ...

    def finish(self, parser: "Parser") -> bool:
        """Give out what was held; whether a turn may end here."""
        ...


def reader_of(position: Position) -> Reader:
    """A fresh reader for the region at this position."""
    from .arguments import ArgumentsReader
    from .elements import ElementsReader
    from .frame import NameReader
    from .json_call import JsonCallReader
    from .name_keyed import NameKeyedReader
    from .pythonic import PythonCallReader
    from .quoted import QuotedReader
    from .tagged import TaggedReader

    match position.leaf:
        case ToolName() | NumberedName() | CallId() | Filler():
            return NameReader(position)
        case JsonArguments():
            return ArgumentsReader(position)
        case JsonCall() as leaf:
            return JsonCallReader(position, leaf)
        case NameKeyedCall():
            return NameKeyedReader(position)
        case ElementArguments():
            return ElementsReader(position)
        case TaggedArguments():
            return TaggedReader(position)
        case QuotedArguments():
            return QuotedReader(position)
        case PythonCall():
            return PythonCallReader(position)
        case leaf:
            raise TypeError(f"{leaf} is not read by a reader of its own")
