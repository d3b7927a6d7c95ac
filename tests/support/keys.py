"""API keys for tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gateway.settings import ApiKey, hash_of, new_secret
from tests.support.server import SLOW_TURN, Gateway, replay_model, serving

TURNS: list[dict[str, Any]] = [
    SLOW_TURN,
    {"match": None, "text": "Hello!"},
]


def issue(file: Path, name: str, **fields: Any) -> str:
    """A new key, written into the file."""
    secret = new_secret()
    line = ApiKey(name=name, hash=hash_of(secret), **fields).line()
    with file.open("a", encoding="utf-8") as opened:
        opened.write(line + "\n")
    return secret


@contextmanager
def guarded(folder: Path, **settings: Any) -> Iterator[Gateway]:
    """A gateway that asks for the keys in keys.jsonl. It serves the models `scripted` (alias gpt-4o) and `other`."""
    file = folder / "keys.jsonl"
    file.touch()
    models = [replay_model(folder, TURNS, aliases=["gpt-4o"]), replay_model(folder, TURNS, name="other")]
    auth = {"keys_file": str(file), **settings.pop("auth", {})}
    with serving({"models": models, "auth": auth, **settings}) as running:
        yield running
