"""A store in Redis: shared by all replicas of the gateway, bounded by time and by Redis' own memory policy."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from gateway.errors import SettingsError, StoreUnavailable

PATIENCE = 5.0
"""Seconds for one answer of Redis."""

P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[P, Coroutine[Any, Any, T]]


def _told(method: Method[P, T]) -> Method[P, T]:
    """The method, with whatever goes wrong at Redis as StoreUnavailable."""

    @wraps(method)
    async def told(*args: P.args, **more: P.kwargs) -> T:
        from redis.exceptions import RedisError

        try:
            return await method(*args, **more)
        except (RedisError, OSError) as error:
            raise StoreUnavailable(f"The store of responses cannot be reached: {type(error).__name__}.") from error

    return told


class RedisStore:
    """Keys are PREFIX:OWNER:KEY, so that owners cannot meet. Connecting happens at the first use."""

    def __init__(self, url: str, *, ttl: float, prefix: str = "toolwire") -> None:
        try:
            from redis.asyncio import Redis
        except ImportError:
            raise SettingsError("store: the redis library is missing; install toolwire[redis]") from None
        try:
            self._redis: Any = Redis.from_url(url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)
        except ValueError as error:
            raise SettingsError(f"store.url: {error}") from None
        self._ttl = max(1, int(ttl))
        self._prefix = prefix

    @_told
    async def put(self, owner: str, key: str, value: bytes) -> None:
        """Keep a value for the time to live."""
        await self._redis.set(self._name(owner, key), value, ex=self._ttl)

    @_told
    async def get(self, owner: str, key: str) -> bytes | None:
        """The value; reading it begins its time anew."""
        found = await self._redis.getex(self._name(owner, key), ex=self._ttl)
        return found if isinstance(found, bytes) else None

    @_told
    async def delete(self, owner: str, key: str) -> bool:
        """Whether it was there."""
        return bool(await self._redis.delete(self._name(owner, key)))

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    def _name(self, owner: str, key: str) -> str:
        return f"{self._prefix}:{owner}:{key}"
