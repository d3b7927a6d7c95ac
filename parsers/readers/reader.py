"""The contract of readers, once:

`read(parser)` consumes from `parser.buffer[parser.at:]` with `parser.skip` (framing) or `parser.pass_text`, emits through its
`calls`, and moves on with `parser.go`, `parser.enter` or `parser.reject`. It returns True when it moved (call the current reader
again) and False when it needs more text. What it decides must not depend on how the text was cut: it waits until the text
decides. It never looks back, and what it holds it takes out of the buffer, so that nothing is searched twice.

`passage(parser)` tells what would pass as it is written, if it were fed next. It is asked while nothing is held.

`finish(parser)` is called once the text is at its end and `read` cannot go on; it returns whether the turn may end here.
"""

from typing import TYPE_CHECKING, Protocol

from ..passage import Passage

if TYPE_CHECKING:
    from ..parser import Parser


class Reader(Protocol):
    """Reads one region, or what stands between two."""

    __slots__ = ()

    def read(self, parser: "Parser") -> bool:
        """Consume; True: it moved, go on; False: it needs more text."""
        ...

    def finish(self, parser: "Parser") -> bool:
        """Give out what was held; whether a turn may end here."""
        ...

    def passage(self, parser: "Parser") -> Passage | None:
        """What passes as it is written; None where nothing does."""
        del parser
        return None
