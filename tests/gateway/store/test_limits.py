"""Limits hold exactly, and what is told about them is true."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import StoreUnavailable
from gateway.settings import KeyLimits
from gateway.store import Limiter, MemoryLimiter, RedisLimiter, Standing, Verdict
from gateway.store.budgets import Periods
from gateway.store.redis_scripts import CALENDAR
from tests.support.redis import MISSING, PROGRAM

needs_redis = pytest.mark.skipif(PROGRAM is None, reason=MISSING)
GAPS = st.lists(st.floats(min_value=0, max_value=40, allow_nan=False), min_size=1, max_size=60)


@given(gaps=GAPS, limit=st.integers(min_value=1, max_value=8), start=st.floats(min_value=0, max_value=1000))
def test_no_sixty_seconds_hold_more_requests_than_allowed(gaps: list[float], limit: int, start: float) -> None:
    async def run() -> None:
        now = start
        limiter = MemoryLimiter(lambda: now)
        limits = KeyLimits(requests_per_minute=limit)
        admitted: list[float] = []
        for number, gap in enumerate(gaps):
            now += gap
            verdict = await limiter.enter("key", str(number), limits)
            if verdict.refused is None:
                admitted.append(now)
            else:
                assert len([at for at in admitted if at > now - 61]) >= limit, "refused too early"
                assert 0 < verdict.retry_after <= 61
        for at in admitted:
            assert len([other for other in admitted if at - 60 < other <= at]) <= limit

    asyncio.run(run())


@given(gaps=GAPS, amounts=st.lists(st.integers(min_value=0, max_value=50), min_size=60, max_size=60), limit=st.integers(1, 60))
def test_waiting_as_told_is_enough_and_not_too_much(gaps: list[float], amounts: list[int], limit: int) -> None:
    async def run() -> None:
        now = 0.0
        limiter = MemoryLimiter(lambda: now)
        limits = KeyLimits(tokens_per_minute=limit)
        for number, (gap, amount) in enumerate(zip(gaps, amounts, strict=False)):
            now += gap
            verdict = await limiter.enter("key", str(number), limits)
            assert verdict.tokens is not None
            if verdict.refused is None:
                await limiter.leave("key", str(number), tokens=amount)
                continue
            assert verdict.tokens.remaining == 0
            asked = now
            now = math.nextafter(asked + verdict.retry_after, 0) - 0.001
            assert (await limiter.enter("key", "early", limits)).refused == "tokens"
            now = asked + verdict.retry_after + 0.001
            assert (await limiter.enter("key", "then", limits)).refused is None
            now = asked + verdict.tokens.reset + 0.001
            after = await limiter.enter("key", "last", limits)
            assert after.tokens is not None
            assert after.tokens.remaining == limit
            return

    asyncio.run(run())


def using(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]


def test_two_gateways_let_in_no_more_than_one_would(limiter: Callable[[], Limiter]) -> None:
    async def work() -> None:
        both = [limiter(), limiter()]
        limits = KeyLimits(requests_per_minute=7)
        verdicts = await asyncio.gather(*(both[n % 2].enter("key", f"r{n}", limits) for n in range(20)))
        assert sum(verdict.refused is None for verdict in verdicts) == 7
        (refused, *_) = [verdict for verdict in verdicts if verdict.refused]
        assert refused.requests is not None
        assert (refused.refused, refused.requests.limit, refused.requests.remaining) == ("requests", 7, 0)
        assert 55 < refused.retry_after <= 61
        assert (await both[0].enter("other", "r", limits)).refused is None
        for one in both:
            await one.close()

    using(work)


def test_a_request_that_ends_makes_room_for_another(limiter: Callable[[], Limiter]) -> None:
    async def work() -> None:
        one, other = limiter(), limiter()
        limits = KeyLimits(concurrent_requests=2)
        assert (await one.enter("key", "a", limits)).refused is None
        assert (await other.enter("key", "b", limits)).refused is None
        assert (await one.enter("key", "c", limits)).refused == "concurrent"
        await other.leave("key", "b", tokens=0)
        assert (await one.enter("key", "c", limits)).refused is None
        await one.close()
        await other.close()

    using(work)


def test_tokens_count_once_they_are_spent(limiter: Callable[[], Limiter]) -> None:
    async def work() -> None:
        one = limiter()
        limits = KeyLimits(tokens_per_minute=100)
        await one.enter("key", "a", limits)
        await one.leave("key", "a", tokens=60)
        verdict = await one.enter("key", "b", limits)
        assert verdict.tokens is not None
        assert (verdict.refused, verdict.tokens.remaining) == (None, 40)
        await one.leave("key", "b", tokens=60)
        assert (await one.enter("key", "c", limits)).refused == "tokens"
        await one.close()

    using(work)


@needs_redis
def test_requests_of_a_gateway_that_died_do_not_count_for_ever(url: str) -> None:
    """Its leases end; those that are renewed do not."""

    async def work() -> None:
        from redis.asyncio import Redis

        limits = KeyLimits(concurrent_requests=1)
        living = RedisLimiter(url, prefix="dies", renew=0.05)
        async with Redis.from_url(url) as direct:
            name = "dies:limits:{key}:running"
            await living.enter("key", "a", limits)
            await direct.zadd(name, {"a": 10**10})
            async with asyncio.timeout(60):
                while (renewed := await direct.zscore(name, "a")) == 10**10:  # noqa: ASYNC110  # Redis tells it when asked
                    await asyncio.sleep(0.05)
            assert renewed is not None
            assert renewed < 10**10
            assert 0 < await direct.ttl(name) <= 120
            assert (await living.enter("key", "b", limits)).refused == "concurrent"
            await living.close()
            await direct.zadd(name, {"a": 1})
        other = RedisLimiter(url, prefix="dies")
        assert (await other.enter("key", "b", limits)).refused is None
        await other.close()

    using(work)


def moment(year: int, month: int, day: int, hour: int = 0) -> float:
    return datetime(year, month, day, hour, tzinfo=UTC).timestamp()


def test_budgets_are_those_of_the_calendar() -> None:
    async def work() -> None:
        now = moment(2028, 2, 28, 23)
        limiter = MemoryLimiter(calendar=lambda: now)
        limits = KeyLimits(tokens_per_day=100, tokens_per_month=150)

        async def use(lease: str, tokens: int) -> Verdict:
            verdict = await limiter.enter("key", lease, limits)
            await limiter.leave("key", lease, tokens=tokens)
            return verdict

        first = await use("a", 100)
        assert first.day == Standing(100, 100, 0.0, 0.0)
        refused = await use("b", 100)
        assert refused.refused == "day"
        assert refused.day == Standing(100, 0, 3600.0, 3600.0)
        assert refused.retry_after == 3600.0
        now = moment(2028, 2, 29)
        second = await use("c", 60)
        assert second.refused is None
        assert second.month == Standing(150, 50, 86400.0, 0.0)
        refused = await use("d", 1)
        assert (refused.refused, refused.retry_after) == ("month", 86400.0)
        now = moment(2028, 3, 1)
        assert (await use("e", 1)).month == Standing(150, 150, 0.0, 0.0)

    using(work)


def test_budgets_count_across_gateways_and_each_request_once(limiter: Callable[[], Limiter]) -> None:
    async def work() -> None:
        both = [limiter(), limiter()]
        limits = KeyLimits(tokens_per_day=1000, tokens_per_month=10_000, tokens_per_minute=100_000)

        async def use(number: int) -> None:
            one, lease = both[number % 2], f"r{number}"
            assert (await one.enter("key", lease, limits)).refused is None
            await one.leave("key", lease, tokens=10)
            await one.leave("key", lease, tokens=10, late=True)  # as one that had no answer says it again

        await asyncio.gather(*(use(number) for number in range(60)))
        verdict = await both[0].enter("key", "last", limits)
        assert verdict.day is not None
        assert verdict.month is not None
        assert verdict.tokens is not None
        assert (verdict.day.remaining, verdict.month.remaining, verdict.tokens.remaining) == (400, 9400, 99_400)
        await both[1].leave("key", "last", tokens=400, late=True)
        refused = await both[1].enter("key", "more", limits)
        assert refused.refused == "day"
        assert refused.day is not None
        assert 0 < refused.day.wait <= 86400
        assert refused.tokens is not None
        assert refused.tokens.remaining == 99_400, "what is told late is of no minute"
        for one in both:
            await one.close()

    using(work)


@needs_redis
def test_redis_knows_the_calendar(url: str) -> None:
    """Its days and months are Python's; what was used in others is forgotten."""
    moments = [
        0.0,
        moment(1999, 12, 31, 23),
        moment(2000, 2, 29),
        moment(2024, 3, 1),
        moment(2027, 1, 1),
        moment(2100, 2, 28, 23),
    ]
    moments += [moment(2026, 1, 1) + 86400 * 5 * number for number in range(200)]

    async def work() -> None:
        from redis.asyncio import Redis

        async with Redis.from_url(url) as direct:
            script = direct.register_script(f"{CALENDAR}\nlocal day, month = periods(tonumber(ARGV[1]))\nreturn {{day, month}}")
            for now in moments:
                day, month = await script(args=[int(now)])
                assert (day.decode(), month.decode()) == (f"day:{Periods(now).day}", f"month:{Periods(now).month}")
            one = RedisLimiter(url, prefix="old")
            name = "old:limits:{key}:budgets"
            await direct.hset(name, mapping={"day:1": 5, "month:1": 7})
            await one.enter("key", "a", KeyLimits(tokens_per_day=10))
            await one.leave("key", "a", tokens=3)
            assert sorted((await direct.hgetall(name)).values()) == [b"3", b"3"]
            assert 31 * 86400 < await direct.ttl(name) <= 32 * 86400
            await one.close()

    using(work)


def test_a_redis_that_is_not_there_is_told_soon() -> None:
    async def work() -> None:
        limiter = RedisLimiter("redis://127.0.0.1:9/0", prefix="x")
        async with asyncio.timeout(20):
            with pytest.raises(StoreUnavailable, match="store of limits"):
                await limiter.enter("key", "a", KeyLimits(requests_per_minute=1))
        await limiter.close()

    using(work)
