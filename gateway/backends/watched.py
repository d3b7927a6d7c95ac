"""An answer on its way through, of which somebody wants to know when it breaks off."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gateway.chat.flow import Item, Reads, Shortcut, Take, Wait
from gateway.errors import BackendError


class Breakable(Reads[Item]):
    """Reads of which `broke_off` is called when the engine breaks off after the first of them. Whoever gives one says `begun`."""

    def __init__(self, broke_off: Callable[[], None]) -> None:
        self._broke_off = broke_off
        self.begun = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """The time in which it may break off."""
        try:
            yield
        except BackendError:
            if self.begun:
                self._broke_off()
            raise


class Watched(Breakable[Item]):
    """The same as other reads."""

    def __init__(self, reads: Reads[Item], broke_off: Callable[[], None]) -> None:
        super().__init__(broke_off)
        self._reads = reads

    async def __anext__(self) -> Item:
        with self.watched():
            item = await anext(self._reads)
        self.begun = True
        return item

    async def run(self, take: Take[Item], shortcut: Shortcut | None = None) -> None:
        """Give everything to `take`; see Reads."""

        def passed(item: Item) -> Wait | None:
            self.begun = True
            return take(item)

        with self.watched():
            await self._reads.run(passed, shortcut)
