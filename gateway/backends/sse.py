"""Server-sent events, read as they come: bytes in, the data of whole events out. Cuts may fall anywhere, also in a character."""

import re

from gateway.errors import BackendGarbled

_ALONE = re.compile(rb"data: ([^\r\n]*)\n\n").fullmatch
LONGEST_EVENT = 16 * 1024 * 1024
"""An engine whose event is longer than this is not speaking SSE."""


class SSEDecoder:
    """Yields each event's data as bytes, undecoded: JSON decoders take bytes, and so no character can be cut.

    Only `data` is read; comments, ids, event names and retry times are dropped. An event whose blank line never came is none.
    """

    __slots__ = ("_after_cr", "_data", "_held", "_rest")

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._data: list[bytes] = []
        self._held = 0
        self._after_cr = False

    def alone(self, block: bytes) -> bytes | None:
        """The data in a block that is what nearly all are: one event of one line. None: it is not, and must be fed."""
        match = _ALONE(block)
        return None if match is None or self._held or self._after_cr else match[1]

    def feed(self, block: bytes) -> list[bytes]:
        """The data of every event that is whole now."""
        if self._after_cr and block:
            self._after_cr = False
            block = block.removeprefix(b"\n")  # the second half of a CRLF that was cut
        self._held += len(block)
        if self._held > LONGEST_EVENT:
            raise BackendGarbled(f"The engine sent an event of more than {LONGEST_EVENT} bytes.")
        if b"\n" not in block and b"\r" not in block:
            self._rest.append(block)  # joined only once its line is whole, so that many small reads stay linear
            return []
        self._rest.append(block)
        lines = b"".join(self._rest).splitlines(keepends=True)
        self._after_cr = lines[-1].endswith(b"\r")
        self._rest = [] if lines[-1].endswith((b"\n", b"\r")) else [lines.pop()]
        found = self._take(lines)
        self._held = sum(map(len, self._rest)) + sum(map(len, self._data))
        return found

    def _take(self, lines: list[bytes]) -> list[bytes]:
        """Whole lines to whole events."""
        found = []
        for line in lines:
            line = line.rstrip(b"\r\n")
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            elif line == b"data":
                self._data.append(b"")
            elif not line and self._data:
                found.append(b"\n".join(self._data))
                self._data.clear()
        return found
