"""How an answer flows from an engine to a client: pushed on, in the callback of the event loop that read it.

To wake a task for every read would cost a future, a turn of the loop and a walk through all the coroutines in between. And text
that nothing on the way changes, as nearly all text is, goes past all of it.
"""

import re
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TypeVar

from parsers import Delta

Item = TypeVar("Item")
Wait = Callable[[], Awaitable[None]]
"""Called and waited for once."""
Take = Callable[[Item], Wait | None]
"""Takes one item, and tells what must be waited for before the next one comes: nothing, nearly always."""
Leave = Callable[[list[str]], Wait | None]
"""Sends the client a delta with each of these texts, and tells what must be waited for, as Take does."""
Leaving = Callable[[Delta], Leave | None]
"""How deltas of this kind leave, as things are; None where they cannot without being looked at."""


class Shortcut:
    """The way of text that nothing changes, from an engine's bytes to the client. Open where there is a `pattern`, which the
    text of pieces that came together must match; they must hold nothing else."""

    __slots__ = ("leave", "pattern")

    def __init__(self) -> None:
        self.pattern: re.Pattern[str] | None = None
        self.leave: Leave


class Reads(AsyncIterator[Item]):
    """What comes of an answer, by the reads it came in. Taken once: one by one as an iterator, or all that is left by `run`."""

    over = False
    """Nothing more will come, as far as is known."""

    @abstractmethod
    async def __anext__(self) -> Item: ...

    async def run(self, take: Take[Item], shortcut: Shortcut | None = None) -> None:
        """Give everything to `take`, as it comes; returns when the answer is over. What `take` raises comes out here. What may go
        by the `shortcut` may as well be given to `take`."""
        del shortcut
        async for item in self:
            if (wait := take(item)) is not None:
                await wait()


class Pulled(Reads[Item]):
    """The reads of an answer that a generator gives."""

    def __init__(self, source: AsyncGenerator[Item]) -> None:
        self._source = source

    def __anext__(self) -> Awaitable[Item]:  # type: ignore[override]
        return self._source.__anext__()
