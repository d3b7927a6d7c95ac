"""Both stores keep what they are given, for whom and as long as they are told."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import pytest

from gateway.errors import SettingsError, StoreUnavailable
from gateway.settings import StoreSettings
from gateway.store import MemoryStore, RedisStore, Store, open_store
from tests.support.redis import MISSING, PROGRAM, redis_server

LIVES = (1.0, 4.0, 16.0)
needs_redis = pytest.mark.skipif(PROGRAM is None, reason=MISSING)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with redis_server() as address:
        yield address


@pytest.fixture(params=["memory", pytest.param("redis", marks=needs_redis)])
def settings(request: pytest.FixtureRequest) -> StoreSettings:
    address = request.getfixturevalue("url") if request.param == "redis" else None
    return StoreSettings(kind=request.param, url=address, ttl=100.0, prefix=request.node.name[:20].replace("[", "."))


def using(settings: StoreSettings, work: Callable[[Store], Awaitable[None]]) -> None:
    async def run() -> None:
        store = open_store(settings)
        try:
            await work(store)
        finally:
            await store.close()

    asyncio.run(run())


def timely(settings: StoreSettings, work: Callable[..., Awaitable[None]]) -> None:
    """The work, with as many seconds for values to live as this machine needs, now, to be in time."""
    for seconds in LIVES:
        try:
            changed = {"ttl": seconds, "prefix": f"{settings.prefix}{seconds}"}
            using(settings.model_copy(update=changed), partial(work, seconds=seconds))
            break
        except AssertionError:
            if seconds == LIVES[-1]:
                raise


def test_values_are_kept_replaced_and_forgotten(settings: StoreSettings) -> None:
    async def work(store: Store) -> None:
        assert await store.get("me", "a") is None
        await store.put("me", "a", b"\x00one")
        assert await store.get("me", "a") == b"\x00one"
        await store.put("me", "a", b"two")
        assert await store.get("me", "a") == b"two"
        assert await store.delete("me", "a")
        assert not await store.delete("me", "a")
        assert await store.get("me", "a") is None

    using(settings, work)


def test_logs_grow_and_are_read_from_any_place(settings: StoreSettings) -> None:
    async def work(store: Store) -> None:
        assert not await store.append("me", "log", [b"lost"])
        assert await store.read("me", "log") == []
        assert await store.append("me", "log", [b"a", b"\x00b"], begin=True)
        assert await store.append("me", "log", [b"c"])
        assert await store.append("me", "log", [b"d"], begin=True)
        assert await store.read("me", "log") == [b"a", b"\x00b", b"c", b"d"]
        assert await store.read("me", "log", 3) == [b"d"]
        assert await store.read("me", "log", 4) == await store.read("you", "log") == []
        assert not await store.append("you", "log", [b"x"])
        assert await store.delete("me", "log")
        assert not await store.append("me", "log", [b"x"])

    using(settings, work)


def test_logs_outlive_their_time_only_when_they_are_used(settings: StoreSettings) -> None:
    async def work(store: Store, seconds: float) -> None:
        for key in ("read", "grown", "left"):
            await store.append("me", key, [b"x"], begin=True)
        await asyncio.sleep(0.6 * seconds)
        assert await store.read("me", "read") == [b"x"]
        assert await store.append("me", "grown", [b"y"])
        await asyncio.sleep(0.6 * seconds)
        assert [await store.read("me", key) for key in ("read", "grown", "left")] == [[b"x"], [b"x", b"y"], []]

    timely(settings, work)


def test_owners_do_not_meet(settings: StoreSettings) -> None:
    async def work(store: Store) -> None:
        await store.put("me", "a", b"mine")
        assert await store.get("you", "a") is None
        assert not await store.delete("you", "a")
        await store.put("you", "a", b"yours")
        assert await store.get("me", "a") == b"mine"

    using(settings, work)


def test_values_outlive_their_time_only_when_they_are_read(settings: StoreSettings) -> None:
    async def work(store: Store, seconds: float) -> None:
        await store.put("me", "read", b"x")
        await store.put("me", "left", b"x")
        await asyncio.sleep(0.6 * seconds)
        assert await store.get("me", "read") == b"x"
        await asyncio.sleep(0.6 * seconds)
        assert await store.get("me", "left") is None
        assert await store.get("me", "read") == b"x"

    timely(settings, work)


def test_memory_forgets_what_was_not_used_for_longest() -> None:
    async def run() -> None:
        store = MemoryStore(ttl=100, entries=2, size=10_000)
        await store.put("me", "a", b"a")
        await store.put("me", "b", b"b")
        await store.get("me", "a")
        await store.put("me", "c", b"c")
        assert [await store.get("me", key) for key in "abc"] == [b"a", None, b"c"]

    asyncio.run(run())


def test_memory_is_bounded_in_bytes() -> None:
    async def run() -> None:
        store = MemoryStore(ttl=100, entries=1000, size=10_000)
        for number in range(100):
            await store.put("me", str(number), b"x" * 1000)
            assert store.bytes <= 10_000
        assert len(store) == 7
        await store.put("me", "large", b"x" * 20_000)
        assert await store.get("me", "large") is None
        assert len(store) == 7
        for number in range(100):
            await store.delete("me", str(number))
        assert (len(store), store.bytes) == (0, 0)

    asyncio.run(run())


def test_logs_in_memory_are_bounded_in_bytes() -> None:
    async def run() -> None:
        store = MemoryStore(ttl=100, entries=1000, size=10_000)
        await store.put("me", "old", b"x" * 1000)
        for _ in range(9):
            await store.append("me", "log", [b"x" * 900], begin=True)
            assert store.bytes <= 10_000
        assert await store.get("me", "old") is None
        assert len(await store.read("me", "log")) == 9
        assert not await store.append("me", "log", [b"x" * 9000])
        assert await store.read("me", "log") == []
        assert (len(store), store.bytes) == (0, 0)

    asyncio.run(run())


def test_memory_lets_go_of_what_is_too_old() -> None:
    async def run() -> None:
        now = 0.0
        store = MemoryStore(ttl=10, entries=1000, size=10_000, clock=lambda: now)
        await store.put("me", "a", b"x")
        now = 11.0
        await store.put("me", "b", b"x")
        assert len(store) == 1

    asyncio.run(run())


@needs_redis
def test_redis_is_shared_and_its_keys_have_a_time_to_live(url: str) -> None:
    async def run() -> None:
        from redis.asyncio import Redis

        one, other = (RedisStore(url, ttl=50, prefix="shared") for _ in range(2))
        await one.put("me", "a", b"x")
        assert await other.get("me", "a") == b"x"
        async with Redis.from_url(url) as direct:
            assert await direct.keys("shared:*") == [b"shared:me:a"]
            assert 0 < await direct.ttl("shared:me:a") <= 50
        await one.close()
        await other.close()

    asyncio.run(run())


def test_a_redis_that_is_not_there() -> None:
    async def run() -> None:
        store = RedisStore("redis://127.0.0.1:9/0", ttl=1)
        attempts = (
            store.get("me", "a"),
            store.put("me", "a", b""),
            store.append("me", "a", [b""]),
            store.read("me", "a"),
            store.delete("me", "a"),
        )
        for attempt in attempts:
            with pytest.raises(StoreUnavailable):
                await attempt
        await store.close()

    asyncio.run(run())


def test_an_address_that_is_none() -> None:
    with pytest.raises(SettingsError, match=r"store\.url"):
        open_store(StoreSettings(kind="redis", url="http://127.0.0.1"))
