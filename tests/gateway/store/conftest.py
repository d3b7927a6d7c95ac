"""Limiters of both kinds."""

from collections.abc import Callable, Iterator

import pytest

from gateway.store import Limiter, MemoryLimiter, RedisLimiter
from tests.support.redis import MISSING, PROGRAM, redis_server


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with redis_server() as address:
        yield address


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.skipif(PROGRAM is None, reason=MISSING))])
def limiter(request: pytest.FixtureRequest) -> Callable[[], Limiter]:
    """Makes limiters; those in Redis all count together."""
    if request.param == "memory":
        one = MemoryLimiter()
        return lambda: one
    address, prefix = request.getfixturevalue("url"), request.node.name
    return lambda: RedisLimiter(address, prefix=prefix)
