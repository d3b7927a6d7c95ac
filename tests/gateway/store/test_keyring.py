"""API keys are kept as hashes, and a change is noticed."""

import asyncio
import json
import stat
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import SettingsError
from gateway.settings import ApiKey, AuthSettings, StoreSettings, hash_of, masked, new_secret, read_keys
from gateway.store import FileKeyring, Keyring, RedisKeyring, open_keyring
from tests.support.redis import MISSING, PROGRAM, redis_server

needs_redis = pytest.mark.skipif(PROGRAM is None, reason=MISSING)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with redis_server() as address:
        yield address


@pytest.fixture(params=["file", pytest.param("redis", marks=needs_redis)])
def ring(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Keyring]:
    if request.param == "file":
        return lambda: FileKeyring(tmp_path / "keys.jsonl")
    address, prefix = request.getfixturevalue("url"), request.node.name[:30]
    return lambda: RedisKeyring(address, prefix=prefix)


def using(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]


def test_keys_are_added_found_and_removed(ring: Callable[[], Keyring]) -> None:
    async def work() -> None:
        mine, yours = new_secret(), new_secret()
        keyring = ring()
        await keyring.add(ApiKey(name="me", hash=hash_of(mine), models=("a*",)))
        await keyring.add(ApiKey(name="you", hash=hash_of(yours)))
        reader = ring()
        found = await reader.find(hash_of(mine))
        assert found is not None
        assert (found.name, found.models) == ("me", ("a*",))
        assert await reader.find(hash_of(new_secret())) is None
        assert sorted(key.name for key in await keyring.all()) == ["me", "you"]
        assert await keyring.remove("me")
        assert not await keyring.remove("me")
        assert [key.name for key in await keyring.all()] == ["you"]
        await asyncio.sleep(1.1)
        assert await reader.find(hash_of(mine)) is None
        assert await reader.find(hash_of(yours)) is not None
        await keyring.close()
        await reader.close()

    using(work)


def test_a_file_is_for_its_owner_and_holds_no_key(tmp_path: Path) -> None:
    async def work() -> None:
        secret, path = new_secret(), tmp_path / "keys.jsonl"
        await FileKeyring(path).add(ApiKey(name="me", hash=hash_of(secret)))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert secret not in path.read_text(encoding="utf-8")
        assert json.loads(path.read_text(encoding="utf-8"))["hash"] == hash_of(secret)

    using(work)


def test_a_change_is_noticed_after_a_second_and_a_broken_one_changes_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        path, now = tmp_path / "keys.jsonl", 0.0
        one, other = (ApiKey(name=name, hash=hash_of(name)) for name in ("one", "other"))
        path.write_text(f"# ours\n\n{one.line()}\n", encoding="utf-8")
        keyring = FileKeyring(path, clock=lambda: now)
        keyring.load()
        path.write_text(f"{one.line()}\n{other.line()}\n", encoding="utf-8")
        now = 0.9
        assert await keyring.find(other.hash) is None
        now = 1.0
        assert await keyring.find(other.hash) == other
        path.write_text("{ nonsense", encoding="utf-8")
        now = 2.0
        assert await keyring.find(other.hash) == other
        path.unlink()
        now = 3.0
        assert await keyring.find(one.hash) == one
        path.write_text(f"{other.line()}\n", encoding="utf-8")
        now = 4.0
        assert await keyring.find(one.hash) is None

    using(work)


def test_other_lines_stay_as_they_were(tmp_path: Path) -> None:
    async def work() -> None:
        path = tmp_path / "keys.jsonl"
        lines = ["# by hand", f'{{"hash":  "{hash_of("a")}", "name": "a"}}', ApiKey(name="b", hash=hash_of("b")).line()]
        path.write_text("\n".join(lines), encoding="utf-8")
        await FileKeyring(path).remove("b")
        assert path.read_text(encoding="utf-8").splitlines() == lines[:2]

    using(work)


HASH = "a" * 64


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: the line: "),
        ("{}", "line 1: name: Field required"),
        (f'{{"name": "a b", "hash": "{HASH}"}}', "line 1: name: String should match"),
        ('{"name": "a", "hash": "tw-plain-secret"}', "line 1: hash: String should match"),
        (f'{{"name": "a", "hash": "{HASH}", "limits": {{"rpm": 3}}}}', "line 1: limits: unknown key 'rpm'"),
        (f'{{"name": "a", "hash": "{HASH}"}}\n{{"name": "a", "hash": "{"b" * 64}"}}', "line 2: there is a key called 'a'"),
    ],
)
def test_a_wrong_line_is_named_and_not_repeated(line: str, told: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read_keys(line, "keys.jsonl")
    assert f"keys.jsonl, {told}" in str(refused.value)
    assert "plain-secret" not in str(refused.value)


def test_a_start_without_the_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="toolwire keys create NAME"):
        open_keyring(AuthSettings(keys_file=str(tmp_path / "none.jsonl")), StoreSettings())


@given(st.text(max_size=80))
def test_a_masked_key_shows_no_more_than_its_ends(secret: str) -> None:
    shown = masked(secret)
    assert len(shown) <= 10
    assert shown.isascii()
    assert shown.isprintable()
    assert secret not in shown or len(secret) <= 3


def test_keys_differ() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(secret.startswith("tw-") and len(secret) == 46 for secret in secrets)
