"""What outlives a request: a store of bytes, the API keys and what they have used, in memory or in Redis."""

from gateway.settings import StoreSettings

from .base import Store
from .keyring import FileKeyring, Keyring, RedisKeyring, open_keyring
from .limits import Limiter, MemoryLimiter
from .memory import MemoryStore
from .redis import RedisStore
from .redis_limits import RedisLimiter
from .standing import Limit, Standing, Verdict

__all__ = [
    "FileKeyring",
    "Keyring",
    "Limit",
    "Limiter",
    "MemoryLimiter",
    "MemoryStore",
    "RedisKeyring",
    "RedisLimiter",
    "RedisStore",
    "Standing",
    "Store",
    "Verdict",
    "open_keyring",
    "open_limiter",
    "open_store",
]


def open_store(settings: StoreSettings) -> Store:
    """The configured store. SettingsError: the entry is wrong."""
    if settings.kind == "redis":
        return RedisStore(settings.url or "", ttl=settings.ttl, prefix=settings.prefix)
    return MemoryStore(ttl=settings.ttl, entries=settings.max_entries, size=settings.max_bytes)


def open_limiter(settings: StoreSettings) -> Limiter:
    """Where keys' limits are counted. SettingsError: the entry is wrong."""
    return RedisLimiter(settings.url or "", prefix=settings.prefix) if settings.kind == "redis" else MemoryLimiter()
