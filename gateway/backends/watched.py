"""An answer on its way through, of which somebody wants to know when it breaks off."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gateway.chat.flow import Item, Reads, Take, Wait
from gateway.errors import BackendError


class Watched(Reads[Item]):
    """The same reads. `broke_off` is called when the engine breaks off after the first of them."""

    def __init__(self, reads: Reads[Item], broke_off: Callable[[], None]) -> None:
        self._reads = reads
        self._broke_off = broke_off
        self._begun = False

    async def __anext__(self) -> Item:
        with self._watched():
            item = await anext(self._reads)
        self._begun = True
        return item

    async def run(self, take: Take[Item]) -> None:
        """Give everything to `take`; see Reads."""

        def passed(item: Item) -> Wait | None:
            self._begun = True
            return take(item)

        with self._watched():
            await self._reads.run(passed)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except BackendError:
            if self._begun:
                self._broke_off()
            raise
