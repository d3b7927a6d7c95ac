"""The way to Redis, common to all that is kept there."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from gateway.errors import SettingsError, StoreUnavailable

P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[P, Coroutine[Any, Any, T]]


def connect(url: str, *, patience: float) -> Any:
    """A client of this Redis, which connects at its first use. `patience`: seconds for one answer."""
    try:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ImportError:
        raise SettingsError("store: the redis library is missing; install toolwire[redis]") from None
    try:
        once_more = Retry(NoBackoff(), 1)  # a Redis that was restarted leaves broken connections behind
        return Redis.from_url(url, socket_timeout=patience, socket_connect_timeout=patience, retry=once_more)
    except ValueError as error:
        raise SettingsError(f"store.url: {error}") from None


def told(what: str) -> Callable[[Method[P, T]], Method[P, T]]:
    """Makes a method raise whatever goes wrong at Redis as StoreUnavailable. `what` cannot be reached then."""

    def decorate(method: Method[P, T]) -> Method[P, T]:
        @wraps(method)
        async def telling(*args: P.args, **more: P.kwargs) -> T:
            from redis.exceptions import RedisError

            try:
                return await method(*args, **more)
            except (RedisError, OSError) as error:
                raise StoreUnavailable(f"The store of {what} cannot be reached: {type(error).__name__}.") from error

        return telling

    return decorate
