"""Days and months, as budgets count them: by the calendar, in UTC."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from gateway.settings import KeyLimits

from .standing import Standing


@dataclass(frozen=True, slots=True)
class Periods:
    """The day and the month of one moment."""

    now: float
    """Seconds since 1970."""

    @property
    def day(self) -> int:
        """A number that no other day has."""
        return int(self.now // 86400)

    @property
    def month(self) -> int:
        """A number that no other month has."""
        moment = datetime.fromtimestamp(self.now, UTC)
        return moment.year * 12 + moment.month

    def left_of_day(self) -> float:
        """Seconds until the next one."""
        return (self.day + 1) * 86400 - self.now

    def left_of_month(self) -> float:
        """Seconds until the next one."""
        first = datetime.fromtimestamp(self.now, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return (first + timedelta(days=32)).replace(day=1).timestamp() - self.now


def standing_of(limit: int | None, used: int, reset: float) -> Standing | None:
    """How a budget stands; None where there is none."""
    if limit is None:
        return None
    left = max(0, limit - used)
    return Standing(limit, left, reset if used else 0.0, 0.0 if left else reset)


def budgets_of(limits: KeyLimits, used: tuple[int, int], periods: Periods) -> tuple[Standing | None, Standing | None]:
    """How the budgets of the day and of the month stand, of which so many tokens are used."""
    day = standing_of(limits.tokens_per_day, used[0], periods.left_of_day())
    return day, standing_of(limits.tokens_per_month, used[1], periods.left_of_month())


@dataclass(slots=True)
class Spent:
    """Tokens of the current day and of the current month, in memory."""

    _day: tuple[int, int] = field(default=(0, 0))
    _month: tuple[int, int] = field(default=(0, 0))

    def add(self, tokens: int, periods: Periods) -> None:
        """Use some."""
        day, month = self.used(periods)
        self._day, self._month = (periods.day, day + tokens), (periods.month, month + tokens)

    def used(self, periods: Periods) -> tuple[int, int]:
        """How many of this day, and of this month."""
        day = self._day[1] if self._day[0] == periods.day else 0
        return day, self._month[1] if self._month[0] == periods.month else 0
