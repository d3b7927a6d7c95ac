"""How an answer flows from an engine to a client: pushed on, in the callback of the event loop that read it.

To wake a task for every read would cost a future, a turn of the loop and a walk through all the coroutines in between.
"""

from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TypeVar

Item = TypeVar("Item")
Wait = Callable[[], Awaitable[None]]
"""Called and waited for once."""
Take = Callable[[Item], Wait | None]
"""Takes one item, and tells what must be waited for before the next one comes: nothing, nearly always."""


class Reads(AsyncIterator[Item]):
    """What comes of an answer, by the reads it came in. Taken once: one by one as an iterator, or all that is left by `run`."""

    over = False
    """Nothing more will come, as far as is known."""

    @abstractmethod
    async def __anext__(self) -> Item: ...

    async def run(self, take: Take[Item]) -> None:
        """Give everything to `take`, as it comes; returns when the answer is over. What `take` raises comes out here."""
        async for item in self:
            if (wait := take(item)) is not None:
                await wait()


class Pulled(Reads[Item]):
    """The reads of an answer that a generator gives."""

    def __init__(self, source: AsyncGenerator[Item]) -> None:
        self._source = source

    def __anext__(self) -> Awaitable[Item]:  # type: ignore[override]
        return self._source.__anext__()
