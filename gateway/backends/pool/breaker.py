"""Whether a replica that says it is well shall be spared, as its requests show."""

import random
from collections import deque

from gateway.settings import BreakerSettings

LOOKS = 20
"""So many of the last requests tell the rate of failures."""
EARLY, LATE = 0.8, 1.2
"""Pauses are so much shorter or longer by chance, so that gateways do not try a replica all at once."""


class Breaker:
    """Closed, it lets everything through. Open, nothing until its pause is over, and then one trial, which closes it or opens it
    for twice as long. Times are those of the event loop, in seconds."""

    def __init__(self, settings: BreakerSettings) -> None:
        self._settings = settings
        self._last: deque[bool] = deque(maxlen=LOOKS)
        """Whether each of the last requests went well."""
        self._in_a_row = 0
        self._pause = settings.pause
        self.until: float | None = None
        """When the next trial may be made; None while closed."""

    @property
    def closed(self) -> bool:
        """Whether everything is let through."""
        return self.until is None

    def trial_due(self, now: float) -> bool:
        """Whether a trial may be made."""
        return self.until is not None and now >= self.until

    def succeeded(self) -> None:
        """A request went well."""
        self._in_a_row = 0
        self._last.append(True)
        if self.until is not None:
            self.reset()

    def failed(self) -> bool:
        """A request failed; whether that is one too many."""
        self._in_a_row += 1
        self._last.append(False)
        often = len(self._last) == LOOKS and self._last.count(False) >= self._settings.error_rate * LOOKS
        return often or self._in_a_row >= self._settings.failures or self.until is not None

    def open(self, now: float) -> None:
        """Let nothing through for a while; each time in a row for twice as long."""
        self.until = now + self._pause * random.uniform(EARLY, LATE)
        self._pause = min(self._pause * 2, self._settings.longest_pause)

    def reset(self) -> None:
        """Begin anew, as with a replica that nothing is known of."""
        self._last.clear()
        self._in_a_row = 0
        self._pause = self._settings.pause
        self.until = None
