"""Limits hold exactly, and what is told about them is true."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import StoreUnavailable
from gateway.settings import KeyLimits
from gateway.store import Limiter, MemoryLimiter, RedisLimiter
from tests.support.redis import MISSING, PROGRAM, redis_server

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


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with redis_server() as address:
        yield address


@pytest.fixture(params=["memory", pytest.param("redis", marks=needs_redis)])
def limiter(request: pytest.FixtureRequest) -> Callable[[], Limiter]:
    """Makes limiters; those in Redis all count together."""
    if request.param == "memory":
        one = MemoryLimiter()
        return lambda: one
    address, prefix = request.getfixturevalue("url"), request.node.name[:30]
    return lambda: RedisLimiter(address, prefix=prefix)


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
            await asyncio.sleep(0.2)
            renewed = await direct.zscore(name, "a")
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


def test_a_redis_that_is_not_there_is_told_soon() -> None:
    async def work() -> None:
        limiter = RedisLimiter("redis://127.0.0.1:9/0", prefix="x")
        async with asyncio.timeout(3):
            with pytest.raises(StoreUnavailable, match="store of limits"):
                await limiter.enter("key", "a", KeyLimits(requests_per_minute=1))
        await limiter.close()

    using(work)
