"""`toolwire serve`: the gateway, on one address, until it is told to stop."""

import argparse
import asyncio
import gc
import ipaddress
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from . import USAGE, Failure
from .configuration import add_options, read_settings
from .formats import table

if TYPE_CHECKING:
    from gateway.app import House
    from gateway.settings import Settings

BACKLOG = 2048
"""Connections that may wait to be accepted."""
MOST_FILES = 65_536
"""Sockets and files that may be open at once, where the system lets a process have so many."""
YOUNG_OBJECTS = 100_000
"""Objects made and not yet freed before the collector looks at them; they hold those of some hundred streams.
Requests leave no cycles, so it has nothing to find."""


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's command line."""
    add_options(parser)
    parser.add_argument("--host", metavar="ADDRESS", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, metavar="NUMBER", help="port to listen on, 0 for a free one (default: 8000)")
    parser.add_argument("--insecure", action="store_true", help="listen for other machines even if no API key is needed")
    parser.add_argument("--log-level", default="info", choices=("debug", "info", "warning", "error"), help="default: info")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    from gateway.errors import GatewayError
    from gateway.telemetry.logging import configure

    configure(options.log_level)
    try:
        settings = read_settings(options)
        if not (settings.auth.on or options.insecure):
            _check_nobody_else_can_connect(settings.server.host)
        _raise_limit_of_files()
        listener = _listener(settings.server.host, settings.server.port)
        with listener, asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(_serve(settings, listener))
    except GatewayError as error:
        raise Failure(str(error), code=USAGE) from None


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """uvloop where there is one for the system: a streamed chunk costs half as much."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def _check_nobody_else_can_connect(host: str) -> None:
    try:
        address = str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return  # it cannot be listened on either, which is told next
    if not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        raise Failure(
            f"will not listen on {host} without API keys: name a file in auth.keys_file and make a key with "
            "`toolwire keys create NAME`, or add --insecure to serve everybody who can connect",
            code=USAGE,
        )


def _raise_limit_of_files() -> None:
    """A stream takes two sockets. Systems give 1,024 files at first, and leave it to a process to ask for more."""
    try:
        import resource
    except ImportError:  # not on Windows, which has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # macOS has a bound that it does not tell
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _listener(host: str, port: int) -> socket.socket:
    """The listening socket, taken before a model is loaded: a port in use shows at once."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With the protocol named, asyncio sends each small write at once; left open, it would leave that to Nagle.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise Failure(f"cannot listen on {host}:{port}: {error.strerror or error}; choose another with --port") from None
    return listener


async def _serve(settings: "Settings", listener: socket.socket) -> int:
    from gateway.app import House, create_app
    from gateway.app.server import serve

    sys.stderr.write("toolwire: loading " + ", ".join(model.name for model in settings.models) + " ...\n")
    async with House(settings, created=int(time.time())) as house:
        _spare_the_collector()
        listener.listen(BACKLOG)  # from here on whoever connects is answered
        host, port = listener.getsockname()[:2]
        sys.stdout.write(_summary(house, f"http://{host}:{port}/v1"))
        sys.stdout.flush()
        await serve(create_app(settings, house), listener, settings.server)
    return 0


def _spare_the_collector() -> None:
    """What was loaded until now stays: without this each full collection looks through libraries and tokenizers again, in the
    middle of somebody's stream."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])


def _summary(house: "House", url: str) -> str:
    """What is served, and how."""
    rows: list[tuple[str, ...]] = [("MODEL", "FORMAT", "TEMPLATE", "ENGINE", "AT")]
    for one in house.assembled:
        names = ", ".join((one.spec.name, *one.spec.aliases))
        rows.append((names, one.spec.format.name, _short(one.template), one.engine, _short(one.where)))
    rows += [(name, "-", "-", "waiting", reason) for name, reason in house.catalog.waiting.items()]
    return table(rows) + f"\nListening on {url}  (OpenAI-compatible; Ctrl-C stops)\n"


def _short(path: str) -> str:
    return path if len(path) <= 60 else "..." + path[-57:]
