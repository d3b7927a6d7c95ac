"""What running requests may take is set aside: limits of tokens are not crossed by requests that run at the same moment."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.settings import KeyLimits
from gateway.store import Limiter, MemoryLimiter, RedisLimiter, Verdict
from gateway.store.redis_scripts import LEASE
from tests.support.redis import MISSING, PROGRAM

needs_redis = pytest.mark.skipif(PROGRAM is None, reason=MISSING)
LIMITS = [KeyLimits(tokens_per_minute=1000), KeyLimits(tokens_per_day=1000), KeyLimits(tokens_per_month=1000)]
NAMES = ["tokens", "day", "month"]
each_limit = pytest.mark.parametrize(("limits", "name"), list(zip(LIMITS, NAMES, strict=True)), ids=NAMES)


def using(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]


async def begin(limiter: Limiter, lease: str, limits: KeyLimits, claim: int) -> Verdict:
    """Let a request in as far as it comes; one that is refused leaves again."""
    verdict = await limiter.enter("key", lease, limits)
    if verdict.refused is None:
        verdict = await limiter.reserve("key", lease, limits, tokens=claim)
        if verdict.refused is not None:
            await limiter.leave("key", lease, tokens=0)
    return verdict


def remaining(verdict: Verdict) -> int:
    (left,) = [each.remaining for each in (verdict.tokens, verdict.day, verdict.month) if each is not None]
    return left


@each_limit
def test_two_gateways_let_in_exactly_what_there_is_room_for(limiter: Callable[[], Limiter], limits: KeyLimits, name: str) -> None:
    async def work() -> None:
        both = [limiter(), limiter()]

        async def all_at_once(count: int, claim: int) -> list[str]:
            leases = [f"{claim}-{number}" for number in range(count)]
            verdicts = await asyncio.gather(*(begin(both[n % 2], lease, limits, claim) for n, lease in enumerate(leases)))
            assert {each.refused for each in verdicts} == {None, name}
            assert all(each.retry_after == 1.0 for each in verdicts if each.refused), "others may end at any moment"
            return [lease for lease, verdict in zip(leases, verdicts, strict=True) if verdict.refused is None]

        first = await all_at_once(30, 99)
        assert len(first) == 10
        for number, lease in enumerate(first):
            await both[(number + 1) % 2].leave("key", lease, tokens=40)  # 400 are used, and the rest is there again
        second = await all_at_once(20, 101)
        assert len(second) == 5
        for lease in second:
            await both[0].leave("key", lease, tokens=101)
        verdict = await begin(both[1], "last", limits, 1)
        assert (verdict.refused, remaining(verdict)) == (None, 1000 - 400 - 505 - 1)
        for one in both:
            await one.close()

    using(work)


@each_limit
def test_alone_a_request_may_take_more_than_there_is(limiter: Callable[[], Limiter], limits: KeyLimits, name: str) -> None:
    """What it says it may take is seldom what it takes; while it runs there is room for no other."""

    async def work() -> None:
        one = limiter()
        alone = await begin(one, "large", limits, 128_000)
        assert (alone.refused, remaining(alone)) == (None, 0)
        beside = await one.enter("key", "small", limits)
        assert (beside.refused, remaining(beside)) == (name, 0)
        assert beside.met is not None
        assert beside.met.wait == 0
        await one.leave("key", "large", tokens=300)
        assert remaining(await begin(one, "small", limits, 100)) == 600
        assert (await begin(one, "large", limits, 601)).refused == name
        assert (await begin(one, "fits", limits, 600)).refused is None
        await one.leave("key", "small", tokens=0)
        await one.leave("key", "fits", tokens=700)
        used_up = await begin(one, "more", limits, 1)
        assert used_up.refused == name
        assert used_up.met is not None
        assert used_up.met.wait > 0
        await one.close()

    using(work)


def test_a_second_reservation_takes_the_place_of_the_first(limiter: Callable[[], Limiter]) -> None:
    """As when a request is planned again, shorter, or for another model."""

    async def work() -> None:
        one, limits = limiter(), KeyLimits(tokens_per_day=1000)
        assert remaining(await begin(one, "a", limits, 700)) == 300
        for claim in (900, 200, 300):
            verdict = await one.reserve("key", "a", limits, tokens=claim)
            assert (verdict.refused, remaining(verdict)) == (None, 1000 - claim)
        assert remaining(await begin(one, "b", limits, 700)) == 0
        assert (await one.reserve("key", "a", limits, tokens=301)).refused == "day"
        await one.leave("key", "a", tokens=0)
        await one.leave("key", "a", tokens=0)
        await one.leave("key", "b", tokens=0)
        assert remaining(await begin(one, "c", limits, 0)) == 1000
        await one.close()

    using(work)


def test_many_requests_of_two_gateways_use_no_more_than_the_limit_and_one_of_them(limiter: Callable[[], Limiter]) -> None:
    """Each takes all that it has reserved."""

    async def work() -> None:
        both, limits, chance = [limiter(), limiter()], KeyLimits(tokens_per_day=2000), random.Random(7)
        claims = [chance.randint(1, 90) for _ in range(120)]
        used: list[int] = []

        async def worker(number: int) -> None:
            for place in range(number, len(claims), 12):
                lease, claim, one = str(place), claims[place], both[place % 2]
                if (await begin(one, lease, limits, claim)).refused is None:
                    await asyncio.sleep(chance.random() / 100)
                    await one.leave("key", lease, tokens=claim)
                    used.append(claim)

        await asyncio.gather(*map(worker, range(12)))
        assert 2000 - 90 * 12 < sum(used) < 2000 + 90
        assert len(used) < len(claims), "there were more than could be let in"
        verdict = await both[1].enter("key", "last", limits)
        assert verdict.day is not None
        assert verdict.day.remaining == max(0, 2000 - sum(used))
        for one in both:
            await one.close()

    using(work)


STEPS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60), st.floats(0, 1)), min_size=1, max_size=80)


@given(steps=STEPS, limit=st.integers(1, 200))
def test_no_more_is_used_than_the_limit_and_one_request(steps: list[tuple[int, int, float]], limit: int) -> None:
    """Whatever begins and ends in whichever order, as long as none takes more than it said."""

    async def run() -> None:
        limiter, limits = MemoryLimiter(), KeyLimits(tokens_per_day=limit)
        running: dict[int, int] = {}
        used = 0
        largest = 1
        for lease, claim, share in steps:
            if lease in running:
                amount = int(running.pop(lease) * share)
                await limiter.leave("key", str(lease), tokens=amount)
                used += amount
                continue
            verdict = await begin(limiter, str(lease), limits, claim)
            held = sum(running.values())
            if used >= limit:
                assert verdict.refused == "day"
            else:
                fits = not held or used + held + claim <= limit
                # entering asks for room for one token, before it is known what the request may take
                assert (verdict.refused is None) == (fits and (not held or used + held < limit))
            if verdict.refused is None:
                running[lease], largest = claim, max(largest, claim)
            assert used + sum(running.values()) < limit + largest

    asyncio.run(run())


@needs_redis
def test_what_a_dead_gateway_had_reserved_is_free_again(url: str) -> None:
    """Once its lease has ended; the reservations of those that live are renewed with theirs."""

    async def work() -> None:
        from redis.asyncio import Redis

        limits = KeyLimits(tokens_per_day=1000)
        dead, living = RedisLimiter(url, prefix="dead"), RedisLimiter(url, prefix="dead", renew=0.05)
        async with Redis.from_url(url) as direct:
            running, reserved = (f"dead:limits:{{key}}:{kind}" for kind in ("running", "reserved"))
            assert (await begin(dead, "a", limits, 600)).refused is None
            assert (await begin(living, "b", limits, 300)).refused is None
            await dead.close()
            assert (await begin(living, "c", limits, 400)).refused == "day"
            now = (await direct.time())[0]
            ends = await direct.zscore(running, "a")
            assert ends is not None
            assert now < ends <= now + LEASE + 1
            await direct.zadd(running, {"a": now - 1})
            assert remaining(await begin(living, "c", limits, 400)) == 300
            assert await direct.hgetall(reserved) == {b":all": b"700", b"b": b"300", b"c": b"400"}
            await direct.expire(reserved, 5)
            async with asyncio.timeout(60):
                while await direct.ttl(reserved) <= 5:  # noqa: ASYNC110  # Redis tells it when asked
                    await asyncio.sleep(0.05)
            for lease in "bc":
                await living.leave("key", lease, tokens=1)
            assert await direct.hgetall(reserved) == {b":all": b"0"}
        await living.close()

    using(work)
