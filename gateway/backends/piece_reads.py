"""The pieces of a turn, out of the bytes of an engine's stream."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from msgspec import structs

from gateway.chat.events import Piece
from gateway.chat.flow import Reads, Shortcut, Take, Wait
from gateway.errors import BackendError

from .completions import CompletionsReader
from .watched import Breakable

LAST_BYTES = 1.0
"""Seconds an engine gets to end its body after it said [DONE], so that the connection can be used again."""


class PieceReads(Breakable[list[Piece]]):
    """What a stream's bytes are read as. `copies`: so many choices are given the same pieces. `broke_off` is called when the
    engine breaks off after the first of them."""

    def __init__(self, blocks: Reads[bytes], reader: CompletionsReader, *, copies: int, broke_off: Callable[[], None]) -> None:
        super().__init__(broke_off)
        self._blocks = blocks
        self._reader = reader
        self._copies = copies

    async def __anext__(self) -> list[Piece]:
        pieces: list[Piece] = []
        with self.watched():
            while not pieces and not self._reader.done:
                try:
                    pieces = self._reader.feed(await anext(self._blocks))
                except StopAsyncIteration:
                    break
            if not pieces:
                self._reader.end()
        if not pieces:
            raise StopAsyncIteration
        self.begun = True
        return pieces if self._copies == 1 else _copied(pieces, self._copies)

    async def run(self, take: Take[list[Piece]], shortcut: Shortcut | None = None) -> None:
        """Give everything to `take`; see Reads."""
        reader, copies = self._reader, self._copies
        if copies > 1 or shortcut is None:
            shortcut = Shortcut()

        def passed(block: bytes) -> Wait | None:
            if (frame := reader.frame) is not None and (texts := frame.texts_of(block)) is not None:
                if (pattern := shortcut.pattern) is not None:
                    text = texts[0] if len(texts) == 1 else "".join(texts)
                    if pattern.fullmatch(text) is not None:
                        return shortcut.leave(texts)
                pieces = [Piece(0, text) for text in texts]
            else:
                pieces = reader.feed(block)
            wait = None
            if pieces:
                self.begun = True
                wait = take(pieces if copies == 1 else _copied(pieces, copies))
            return partial(_ended, wait) if reader.done else wait

        with self.watched():
            with suppress(_Ended):
                if not self._reader.done:
                    await self._blocks.run(passed)
            self._reader.end()

    async def exhaust(self) -> None:
        """Let the engine end its body after it has said that it is done, so that the connection can be used again."""
        if not self._reader.done or self._blocks.over:
            return
        try:
            async with asyncio.timeout(LAST_BYTES):
                async for _ in self._blocks:
                    pass
        except (TimeoutError, BackendError):
            pass  # the answer is complete; the connection is simply not used again


class _Ended(Exception):
    """The engine has said that it is done; what its body still has says nothing."""


async def _ended(wait: Wait | None) -> None:
    if wait is not None:
        await wait()
    raise _Ended


def _copied(pieces: list[Piece], copies: int) -> list[Piece]:
    found: list[Piece] = []
    for piece in pieces:
        if (usage := piece.usage) is not None:
            spent = replace(usage, completion_tokens=usage.completion_tokens * copies)
            found.append(structs.replace(piece, usage=spent))
        else:
            found.extend(structs.replace(piece, choice=choice) for choice in range(copies))
    return found
