"""Where API keys are kept: in a file, or in a Redis that several gateways share."""

import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from gateway.errors import SettingsError, StoreUnavailable
from gateway.settings import ApiKey, AuthSettings, StoreSettings, read_key, read_keys

from .connection import connect, told

LOOK_AGAIN = 1.0
"""Seconds after which a key, or the file's time of change, is looked at again."""
PATIENCE = 1.0
"""Seconds for one answer of Redis: a request waits for it."""
MOST_REMEMBERED = 10_000
log = logging.getLogger(__name__)


class Keyring(Protocol):
    """The keys that are good now. Methods raise StoreUnavailable when they cannot be reached."""

    async def find(self, digest: str) -> ApiKey | None:
        """The key with this hash."""
        ...

    async def all(self) -> list[ApiKey]:
        """Every key."""
        ...

    async def add(self, key: ApiKey) -> None:
        """Keep one more."""
        ...

    async def remove(self, name: str) -> bool:
        """Whether there was one of this name to forget."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


class FileKeyring:
    """Keys in a file, which may change while the gateway runs. A change that cannot be read leaves the keys as they were."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._keys: dict[str, ApiKey] = {}
        self._seen: tuple[int, ...] | None = None
        self._look_at = float("-inf")

    def load(self) -> None:
        """Read the file now. SettingsError: it cannot be read."""
        self._seen = self._version()
        try:
            self._keys = read_keys(self._path.read_text(encoding="utf-8"), str(self._path))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise SettingsError(f"auth.keys_file: {self._path}: {reason}; make it with: toolwire keys create NAME") from None
        self._look_at = self._clock() + LOOK_AGAIN

    async def find(self, digest: str) -> ApiKey | None:
        """The key, as the file says no more than a second ago."""
        if self._clock() >= self._look_at:
            self._look_at = self._clock() + LOOK_AGAIN
            if self._version() != self._seen:
                self._reload()
        return self._keys.get(digest)

    async def all(self) -> list[ApiKey]:
        """Every key in the file; none when there is no file."""
        if not self._path.exists():
            return []
        self.load()
        return list(self._keys.values())

    async def add(self, key: ApiKey) -> None:
        """Write one more line."""
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        self._write([*lines, key.line()])

    async def remove(self, name: str) -> bool:
        """Leave out the line of this key; all others stay as they are."""
        gone = {key.hash for key in await self.all() if key.name == name}
        if not gone:
            return False
        lines = self._path.read_text(encoding="utf-8").splitlines()
        self._write(line for line in lines if not any(digest in line for digest in gone))
        return True

    async def close(self) -> None:
        """There is nothing to release."""

    def _reload(self) -> None:
        try:
            self.load()
            log.info("API keys were read again: %d keys", len(self._keys))
        except SettingsError as error:
            log.error("API keys stay as they were: %s", error)

    def _version(self) -> tuple[int, ...] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _write(self, lines: Iterable[str]) -> None:
        """In one step, so that nobody reads half a file. A file that is new is for its owner's eyes."""
        try:
            mode = self._path.stat().st_mode & 0o777 if self._path.exists() else 0o600
            with tempfile.NamedTemporaryFile("w", dir=self._path.parent, encoding="utf-8", delete=False) as file:
                file.writelines(f"{line}\n" for line in lines)
            os.chmod(file.name, mode)
            os.replace(file.name, self._path)
        except OSError as error:
            raise SettingsError(f"{self._path}: cannot be written: {error.strerror}") from None


class RedisKeyring:
    """Keys in one hash of a Redis. One that was seen lately is good for a second more, and, if the policy allows it, for as long
    as the Redis cannot be reached."""

    def __init__(self, url: str, *, prefix: str, keeps: bool = True) -> None:
        self._redis = connect(url, patience=PATIENCE)
        self._name = f"{prefix}:keys"
        self._keeps = keeps
        self._seen: dict[str, tuple[float, ApiKey]] = {}

    async def find(self, digest: str) -> ApiKey | None:
        """The key, as Redis says no more than a second ago."""
        until, known = self._seen.get(digest, (0.0, None))
        if known is not None and time.monotonic() < until:
            return known
        try:
            line = await self._line(digest)
        except StoreUnavailable:
            if known is None or not self._keeps:
                raise
            self._remember(digest, known)
            return known
        if line is None:
            self._seen.pop(digest, None)
            return None
        key = read_key(line)
        self._remember(digest, key)
        return key

    @told("API keys")
    async def all(self) -> list[ApiKey]:
        """Every key."""
        return [read_key(line.decode()) for line in (await self._redis.hgetall(self._name)).values()]

    @told("API keys")
    async def add(self, key: ApiKey) -> None:
        """Keep one more."""
        await self._redis.hset(self._name, key.hash, key.line())

    @told("API keys")
    async def remove(self, name: str) -> bool:
        """Forget the keys of this name."""
        found = [key.hash for key in await self.all() if key.name == name]
        return bool(found and await self._redis.hdel(self._name, *found))

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    @told("API keys")
    async def _line(self, digest: str) -> str | None:
        found = await self._redis.hget(self._name, digest)
        return found.decode() if isinstance(found, bytes) else None

    def _remember(self, digest: str, key: ApiKey) -> None:
        if len(self._seen) >= MOST_REMEMBERED:
            self._seen.clear()
        self._seen[digest] = (time.monotonic() + LOOK_AGAIN, key)


def open_keyring(auth: AuthSettings, store: StoreSettings) -> Keyring | None:
    """The configured keys; None where no key is needed. SettingsError: they cannot be read."""
    if auth.keys_in_redis:
        return RedisKeyring(store.url or "", prefix=store.prefix, keeps=auth.on_store_failure == "allow")
    if auth.keys_file is None:
        return None
    keyring = FileKeyring(Path(auth.keys_file))
    keyring.load()
    return keyring
