"""How late the event loop comes to its work: what every stream of the process waits for at once."""

import asyncio
from collections import deque

EVERY = 0.25
"""Seconds between two looks."""
LOOKS = 60
"""The worst of so many is told, so that a scrape every 15 seconds misses none."""


class LoopLag:
    """Measures while `watch` runs."""

    def __init__(self) -> None:
        self._late: deque[float] = deque(maxlen=LOOKS)

    def worst(self) -> float:
        """Seconds by which the worst of the recent looks was late."""
        return max(self._late, default=0.0)

    async def watch(self) -> None:
        """Look, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + EVERY
            await asyncio.sleep(EVERY)
            self._late.append(max(0.0, loop.time() - due))


def tasks() -> int:
    """How many tasks the running loop has."""
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:  # nobody is running
        return 0
