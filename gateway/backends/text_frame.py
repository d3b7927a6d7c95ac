"""What stands around the text in a stream's chunks, which is nearly always the same from the first chunk to the last but one."""

import re

import msgspec

TEXT = re.compile(rb'"text"[ \t]*:[ \t]*("(?:[^"\\]|\\.)*")')
_decode = msgspec.json.Decoder(str).decode


class TextFrame:
    """The bytes before and behind the text of one event, itself a JSON string."""

    __slots__ = ("_before", "_behind", "_between", "_end", "_start")

    def __init__(self, before: bytes, behind: bytes) -> None:
        self._before, self._behind = before, behind
        self._between = behind + before
        self._start, self._end = len(before), -len(behind)

    @classmethod
    def of(cls, block: bytes) -> "TextFrame | None":
        """The frame of a block that is a whole event with one text in it."""
        found = list(TEXT.finditer(block))
        if len(found) != 1:
            return None
        start, end = found[0].span(1)
        return cls(block[:start], block[end:])

    def around(self, text: bytes) -> bytes:
        """The block that this JSON string makes."""
        return self._before + text + self._behind

    def fits(self, block: bytes) -> bool:
        """Whether the block begins and ends as the frame does."""
        return block.startswith(self._before) and block.endswith(self._behind)

    def texts_of(self, block: bytes) -> list[str] | None:
        """The text in the frame, or in several frames that came together; None where another frame is around it, or no string
        stands in it."""
        if not block.startswith(self._before) or not block.endswith(self._behind):
            return None
        inner = block[self._start : self._end]
        try:
            if self._between not in inner:
                return [_decode(inner)]
            return [_decode(text) for text in inner.split(self._between)]
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
