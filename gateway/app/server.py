"""Runs the application until it is told to stop, and then brings everything to an end in order.

The first SIGTERM or SIGINT: `/ready` says so at once, new requests are refused, running ones have `drain` seconds. Those that are
left then are interrupted and their clients told, in the words of their protocol. The second signal ends all of it at once.
"""

import asyncio
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext

import uvicorn

from gateway.pipeline.running import Running
from gateway.settings import Server

from .application import Application
from .connections import http_with, websockets_with

LAST_WORDS = 3
"""Seconds in which interrupted requests tell their clients, and then again those in which all connections get closed."""
KEEP_ALIVE = 75
"""Seconds. Longer than clients and proxies keep idle connections."""
log = logging.getLogger(__name__)


class Stop:
    """What has been asked for. Called once for each signal."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.at_once = asyncio.Event()

    def __call__(self) -> None:
        (self.at_once if self.asked.is_set() else self.asked).set()


async def serve(app: Application, listener: socket.socket, settings: Server) -> None:
    """Returns once everything has ended. Signals go no further, so that what is behind the application is closed in order."""
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=http_with(settings.write_timeout),
            ws=websockets_with(settings.write_timeout),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=app.house.spans is not None,  # nobody else asks where a request came from
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=LAST_WORDS,
        )
    )
    # uvicorn would raise signals once more at the end
    server.capture_signals = nullcontext  # type: ignore[method-assign, assignment]
    stop = Stop()
    with _signals_to(stop):
        ending = asyncio.create_task(_end(server, app.house.pipeline.running, stop, drain=settings.drain))
        await server.serve(sockets=[listener])
        ending.cancel()


async def _end(server: uvicorn.Server, running: Running, stop: Stop, *, drain: float) -> None:
    await stop.asked.wait()
    running.accepting = False
    log.info("stopping: %d running requests have %g s to end; a second signal ends them at once", len(running), drain)
    await _first_of(running.over(drain), stop.at_once.wait())
    if running and not stop.at_once.is_set():
        log.warning("stopping: %d requests are interrupted", len(running))
        running.end()
        await _first_of(running.over(LAST_WORDS), stop.at_once.wait())
    server.should_exit = True
    await stop.at_once.wait()
    server.force_exit = True


async def _first_of(*works: Awaitable[object]) -> None:
    tasks = [asyncio.ensure_future(work) for work in works]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()


@contextmanager
def _signals_to(stop: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    before = {
        number: signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop)) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
