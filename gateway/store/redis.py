"""A store in Redis: shared by all replicas of the gateway, bounded by time and by Redis' own memory policy."""

from collections.abc import Sequence

from .connection import connect, told

PATIENCE = 5.0
"""Seconds for one answer of Redis."""


class RedisStore:
    """Keys are PREFIX:OWNER:KEY, so that owners cannot meet; logs are lists. Connecting happens at the first use."""

    shared = True

    def __init__(self, url: str, *, ttl: float, prefix: str = "toolwire") -> None:
        self._redis = connect(url, patience=PATIENCE)
        self._ttl = max(1, int(ttl))
        self._prefix = prefix

    @told("responses")
    async def put(self, owner: str, key: str, value: bytes) -> None:
        """Keep a value for the time to live."""
        await self._redis.set(self._name(owner, key), value, ex=self._ttl)

    @told("responses")
    async def get(self, owner: str, key: str) -> bytes | None:
        """The value; reading it begins its time anew."""
        found = await self._redis.getex(self._name(owner, key), ex=self._ttl)
        return found if isinstance(found, bytes) else None

    @told("responses")
    async def append(self, owner: str, key: str, values: Sequence[bytes], *, begin: bool = False) -> bool:
        """Make a list longer, in one step for everybody who reads it."""
        name = self._name(owner, key)
        async with self._redis.pipeline(transaction=True) as steps:
            (steps.rpush if begin else steps.rpushx)(name, *values)
            steps.expire(name, self._ttl)
            length, _ = await steps.execute()
        return bool(length)

    @told("responses")
    async def read(self, owner: str, key: str, start: int = 0) -> list[bytes]:
        """The list from this place on."""
        name = self._name(owner, key)
        async with self._redis.pipeline(transaction=True) as steps:
            steps.lrange(name, start, -1)
            steps.expire(name, self._ttl)
            found, _ = await steps.execute()
        return [bytes(value) for value in found]

    @told("responses")
    async def delete(self, owner: str, key: str) -> bool:
        """Whether it was there."""
        return bool(await self._redis.delete(self._name(owner, key)))

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    def _name(self, owner: str, key: str) -> str:
        return f"{self._prefix}:{owner}:{key}"
