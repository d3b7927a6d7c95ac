"""`toolwire keys`: make, list and revoke the API keys that clients need."""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import USAGE, Failure
from .formats import table

if TYPE_CHECKING:
    from gateway.store import Keyring

WIRES = ("openai", "legacy-ui")
LIMITS = {
    "requests_per_minute": "most requests in any 60 seconds",
    "tokens_per_minute": "tokens of prompts and answers in 60 seconds",
    "concurrent_requests": "most requests at the same time",
    "tokens_per_day": "tokens in a day of the calendar (UTC)",
    "tokens_per_month": "tokens in a month of the calendar (UTC)",
}


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's command line."""
    what = parser.add_subparsers(dest="what", required=True, metavar="create|list|revoke")
    create = what.add_parser("create", help="make a key and print it, this once")
    create.add_argument("name", metavar="NAME", help="who it is for")
    create.add_argument(
        "--models", metavar="NAME", nargs="+", default=["*"], help="models it may use; * stands for any characters"
    )
    create.add_argument("--wire", choices=WIRES, help="how answers to it are written (default: as the model's entry says)")
    for limit, text in LIMITS.items():
        create.add_argument(f"--{limit.replace('_', '-')}", type=int, metavar="NUMBER", help=text)
    listing = what.add_parser("list", help="show the keys' names and what they may do")
    revoke = what.add_parser("revoke", help="make a key invalid, within a second or two")
    revoke.add_argument("name", metavar="NAME", help="whose key")
    for one, work in ((create, _create), (listing, _list), (revoke, _revoke)):
        one.add_argument("--config", metavar="FILE", help="configuration that says where keys are (default: toolwire.yaml)")
        one.add_argument("--file", metavar="FILE", help="file of keys, instead of the one in the configuration")
        one.set_defaults(run=run, work=work)


def run(options: argparse.Namespace) -> None:
    """Do it."""
    from gateway.errors import GatewayError

    work: Callable[[Keyring, argparse.Namespace], Awaitable[None]] = options.work
    try:
        asyncio.run(_with_keyring(work, options))
    except GatewayError as error:
        raise Failure(str(error)) from None


async def _with_keyring(work: Callable[["Keyring", argparse.Namespace], Awaitable[None]], options: argparse.Namespace) -> None:
    keyring = _keyring(options)
    try:
        await work(keyring, options)
    finally:
        await keyring.close()


def _keyring(options: argparse.Namespace) -> "Keyring":
    from gateway.settings import load
    from gateway.store import FileKeyring, RedisKeyring

    if options.file:
        return FileKeyring(Path(options.file))
    settings = load(options.config)
    if settings.auth.keys_in_redis:
        return RedisKeyring(settings.store.url or "", prefix=settings.store.prefix)
    if settings.auth.keys_file:
        return FileKeyring(Path(settings.auth.keys_file))
    raise Failure("no place for keys: name a file with --file, or set auth.keys_file in toolwire.yaml", code=USAGE)


async def _create(keyring: "Keyring", options: argparse.Namespace) -> None:
    from gateway.settings import hash_of, new_secret, read_key

    if any(key.name == options.name for key in await keyring.all()):
        raise Failure(f"there is a key called '{options.name}' already; revoke it first, or choose another name")
    secret = new_secret()
    limits = {name: value for name in LIMITS if (value := getattr(options, name)) is not None}
    fields: dict[str, Any] = {"name": options.name, "hash": hash_of(secret), "models": options.models, "limits": limits}
    fields["wire"] = options.wire
    try:
        key = read_key(json.dumps(fields))
    except ValueError as error:
        raise Failure(str(error), code=USAGE) from None
    await keyring.add(key)
    sys.stdout.write(secret + "\n")
    sys.stdout.flush()
    sys.stderr.write("Keep it safe: it is not shown again.\n")


async def _list(keyring: "Keyring", options: argparse.Namespace) -> None:
    rows: list[tuple[str, ...]] = [
        ("NAME", "HASH", "MODELS", "REQUESTS/MIN", "TOKENS/MIN", "CONCURRENT", "TOKENS/DAY", "TOKENS/MONTH")
    ]
    for key in sorted(await keyring.all(), key=lambda key: key.name):
        limits = (getattr(key.limits, name) for name in LIMITS)
        rows.append((key.name, key.hash[:12], " ".join(key.models), *("-" if limit is None else str(limit) for limit in limits)))
    sys.stdout.write(table(rows))


async def _revoke(keyring: "Keyring", options: argparse.Namespace) -> None:
    if not await keyring.remove(options.name):
        raise Failure(f"there is no key called '{options.name}'; `toolwire keys list` shows all")
