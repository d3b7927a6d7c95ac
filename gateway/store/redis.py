"""A store in Redis: shared by all replicas of the gateway, bounded by time and by Redis' own memory policy."""

from .connection import connect, told

PATIENCE = 5.0
"""Seconds for one answer of Redis."""


class RedisStore:
    """Keys are PREFIX:OWNER:KEY, so that owners cannot meet. Connecting happens at the first use."""

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
    async def delete(self, owner: str, key: str) -> bool:
        """Whether it was there."""
        return bool(await self._redis.delete(self._name(owner, key)))

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    def _name(self, owner: str, key: str) -> str:
        return f"{self._prefix}:{owner}:{key}"
