"""What outlives a request: a store of bytes, in memory or in Redis."""

from gateway.settings import StoreSettings

from .base import Store
from .memory import MemoryStore
from .redis import RedisStore

__all__ = ["MemoryStore", "RedisStore", "Store", "open_store"]


def open_store(settings: StoreSettings) -> Store:
    """The configured store. SettingsError: the entry is wrong."""
    if settings.kind == "redis":
        return RedisStore(settings.url or "", ttl=settings.ttl, prefix=settings.prefix)
    return MemoryStore(ttl=settings.ttl, entries=settings.max_entries, size=settings.max_bytes)
