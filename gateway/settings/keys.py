"""API keys: what is kept of each one. The key itself is shown once, to whom it was made for; only its hash is kept."""

import hashlib
import json
import re
import secrets
from typing import Annotated

from pydantic import Field, ValidationError

from gateway.errors import SettingsError

from .section import Section
from .wire import Wire

BEGINNING = "tw-"
KEY_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
HASH = r"^[0-9a-f]{64}$"
GLOB = r"^[A-Za-z0-9._:/@+*?-]+$"


class KeyLimits(Section):
    """What one key may use. Where there is no number, there is no limit."""

    requests_per_minute: int | None = Field(default=None, ge=1)
    """Most requests in any 60 seconds."""
    tokens_per_minute: int | None = Field(default=None, ge=1)
    """Most tokens of prompts and answers in 60 seconds. What running requests may take is set aside for them."""
    concurrent_requests: int | None = Field(default=None, ge=1)
    """Most requests at the same time."""
    tokens_per_day: int | None = Field(default=None, ge=1)
    """Most tokens of prompts and answers in a day of the calendar, in UTC; then the key is refused until the next one."""
    tokens_per_month: int | None = Field(default=None, ge=1)
    """The same for a month."""

    @property
    def of_tokens(self) -> bool:
        """Whether any of them is one of tokens."""
        return any((self.tokens_per_minute, self.tokens_per_day, self.tokens_per_month))

    def __bool__(self) -> bool:
        """Whether there is any limit."""
        return any(limit is not None for _, limit in self)


class ApiKey(Section):
    """One key: who it is for, and what it may do."""

    name: str = Field(pattern=KEY_NAME)
    """Who uses it; it stands in logs."""
    hash: str = Field(pattern=HASH, repr=False)
    """SHA-256 of the key, in hexadecimal digits."""
    models: tuple[Annotated[str, Field(pattern=GLOB)], ...] = ("*",)
    """The models it may use, by name or alias; * and ? stand for any characters."""
    limits: KeyLimits = KeyLimits()
    wire: Wire | None = None
    """How answers to it are written; default: as the model's entry says."""

    def line(self) -> str:
        """The key as it stands in a file or in Redis."""
        return self.model_dump_json(exclude_none=True)


def new_secret() -> str:
    """A key that nobody can guess: 256 random bits. That is why one fast hash is enough to keep it safe."""
    return BEGINNING + secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def masked(secret: str) -> str:
    """As much of a key as helps its owner to know it by."""
    shown = secret[-4:] if len(secret) >= 16 else ""
    return ("" if secret[:3] != BEGINNING else BEGINNING) + "***" + re.sub(r"[^!-~]", "?", shown)


def read_key(line: str) -> ApiKey:
    """The key in one line of JSON; ValueError says what is wrong, without the line's content."""
    try:
        return ApiKey.model_validate(json.loads(line))
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg})") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the line"
        raise ValueError(f"{place}: {first['msg']}") from None


def read_keys(text: str, source: str) -> dict[str, ApiKey]:
    """Keys by hash from lines of JSON; empty lines and those that begin with # are passed over. SettingsError names the line."""
    found: dict[str, ApiKey] = {}
    names: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            key = read_key(line)
        except ValueError as error:
            raise SettingsError(f"{source}, line {number}: {error}") from None
        if key.name in names:
            raise SettingsError(f"{source}, line {number}: there is a key called '{key.name}' already; rename one")
        names.add(key.name)
        found[key.hash] = key
    return found
