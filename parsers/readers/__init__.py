"""One reader per kind of region; see `reader` for what they have in common."""

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
from .reader import Reader

__all__ = ["Reader", "reader_of"]


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
