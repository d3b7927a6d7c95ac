"""How a key's limits stand, and whether a request may go on."""

from dataclasses import dataclass
from typing import Literal

SOON = 1.0
"""Seconds after which to try again when other requests must end first."""
Limit = Literal["requests", "tokens", "concurrent", "day", "month"]
"""A limit: requests and tokens of a minute, requests at once, tokens of a day and of a month."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is left of one limit."""

    limit: int
    remaining: int
    reset: float
    """Seconds until all of it is there again, if nothing more is used."""
    wait: float
    """Seconds until one more fits; 0: it does now."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a request may go on. One that may not has used nothing."""

    refused: Limit | None
    requests: Standing | None = None
    tokens: Standing | None = None
    day: Standing | None = None
    month: Standing | None = None

    @property
    def retry_after(self) -> float:
        """Seconds after which it may."""
        all_of_them = (self.requests, self.tokens, self.day, self.month)
        return max((standing.wait for standing in all_of_them if standing), default=0.0) or SOON


LONGEST_FIRST: tuple[Limit, ...] = ("month", "day", "requests", "tokens")


def first_used_up(verdict: Verdict) -> Limit | None:
    """The limit that a request meets; the one that lasts longest first."""
    for limit in LONGEST_FIRST:
        standing: Standing | None = getattr(verdict, limit)
        if standing is not None and standing.wait:
            return limit
    return None
