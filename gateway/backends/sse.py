"""Server-sent events, read as they come: bytes in, the data of whole events out. Cuts may fall anywhere, also in a character."""

from gateway.errors import BackendGarbled

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

    @property
    def holds(self) -> bool:
        """Whether an event has begun that is not whole."""
        return self._held > 0 or self._after_cr

    def feed(self, block: bytes) -> list[bytes]:
        """The data of every event that is whole now."""
        if not self._held and not self._after_cr and (plain := plain_events(block)) is not None:
            return plain
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


def plain_events(block: bytes) -> list[bytes] | None:
    """The data of each event in a block that is what nearly all are: whole events of one line each. None: it is another."""
    if not block.startswith(b"data: ") or not block.endswith(b"\n\n") or b"\r" in block:
        return None
    found = block[6:-2].split(b"\n\ndata: ")
    return found if block.count(b"\n") == 2 * len(found) else None
