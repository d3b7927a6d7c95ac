"""How a key's limits stand, and whether a request may go on."""

from dataclasses import dataclass, replace
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
    """What is neither used nor reserved."""
    reset: float
    """Seconds until all of it is there again, if nothing more is used."""
    wait: float
    """Seconds until one more fits; 0: it does now, or would if running requests had not reserved it."""


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

    @property
    def met(self) -> Standing | None:
        """How the limit of tokens stands that the request met; None where it met none of those."""
        return getattr(self, self.refused) if self.refused in TOKENS_LONGEST_FIRST else None

    def without(self, reserved: int) -> "Verdict":
        """The same where so many tokens are reserved."""
        tokens, day, month = (_less(standing, reserved) for standing in (self.tokens, self.day, self.month))
        return replace(self, tokens=tokens, day=day, month=month)


LONGEST_FIRST: tuple[Limit, ...] = ("month", "day", "requests", "tokens")
TOKENS_LONGEST_FIRST: tuple[Limit, ...] = ("month", "day", "tokens")


def first_full(verdict: Verdict, *, others: int, claim: int) -> Limit | None:
    """The limit under which there is no room for a request that may take `claim` tokens beside those that `others` reserved.

    Alone, a request has room as long as anything is left: else one that may take more than a whole limit would never be let in.
    """
    for limit in TOKENS_LONGEST_FIRST if others else ():
        standing: Standing | None = getattr(verdict, limit)
        if standing is not None and others + claim > standing.remaining:
            return limit
    return None


def _less(standing: Standing | None, reserved: int) -> Standing | None:
    return standing and replace(standing, remaining=max(0, standing.remaining - reserved))


def first_used_up(verdict: Verdict) -> Limit | None:
    """The limit that a request meets; the one that lasts longest first."""
    for limit in LONGEST_FIRST:
        standing: Standing | None = getattr(verdict, limit)
        if standing is not None and standing.wait:
            return limit
    return None
