"""A client that hangs up stops everything that was done for it, wherever its request is; it would go on for minutes."""

from collections.abc import Callable

import pytest

from tests.e2e.faults.clients import CHAT, PATHS, Caller
from tests.e2e.faults.conftest import Site
from tests.e2e.faults.sockets import Conversation
from tests.support.server import wait_for

STREAM = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


def left(site: Site) -> int:
    """Requests that the engines had, and that were hung up on."""
    return sum(engine.told().left for engine in site.engines)


def reached(site: Site, condition: Callable[[], bool]) -> None:
    assert wait_for(condition), site.gateway.log.read_text(errors="replace")[-2000:]


@STREAM
@pytest.mark.parametrize(
    "script",
    [{"accept_delay": 300}, {"first_delay": 300}, {"pieces": ["word "] * 3, "delay": 300}],
    ids=["before the engine's headers", "before the first piece", "in the middle"],
)
def test_at_the_engine(site: Site, script: dict[str, object], stream: bool) -> None:
    for engine in site.engines:
        engine.play(**script)
    before = left(site)
    with Caller(site.gateway.url, stream=stream):
        reached(site, lambda: site.running() == 1)
    assert wait_for(lambda: site.running() == 0)
    assert left(site) == before + 1


@pytest.mark.parametrize("path", [path for path in PATHS if path != CHAT])
@STREAM
def test_in_each_protocol(site: Site, path: str, stream: bool) -> None:
    for engine in site.engines:
        engine.play(pieces=["word "] * 3, delay=300)
    with Caller(site.gateway.url, path, stream=stream):
        reached(site, lambda: site.running() == 1)
    assert wait_for(lambda: site.running() == 0)


def test_on_a_websocket(site: Site) -> None:
    for engine in site.engines:
        engine.play(pieces=["word "] * 3, delay=300)
    conversation = Conversation(site.gateway.url)
    reached(site, lambda: site.running() == 1)
    conversation.hang_up()
    assert wait_for(lambda: site.running() == 0)


@STREAM
def test_in_the_line(site: Site, stream: bool) -> None:
    """One request is all that this model's only engine may have, so the second one waits."""
    engine = site.engines[0]
    engine.play(first_delay=300)
    with Caller(site.gateway.url, model="narrow"):
        reached(site, lambda: engine.running() == 1)
        with Caller(site.gateway.url, model="narrow", stream=stream):
            reached(site, lambda: site.gateway.metric("toolwire_queue_requests_waiting") == 1)
        assert wait_for(lambda: site.gateway.metric("toolwire_queue_requests_waiting") == 0)
        assert engine.told().running == 1, "the first one goes on"
    assert wait_for(lambda: engine.running() == 0)


@STREAM
def test_between_two_attempts(site: Site, stream: bool) -> None:
    engine = site.engines[0]
    engine.play(status=500)
    before = engine.told().asked
    with Caller(site.gateway.url, model="narrow", stream=stream):
        reached(site, lambda: engine.told().asked >= before + 3)
    assert site.gateway.idle()
    asked = engine.told().asked
    assert not wait_for(lambda: engine.told().asked > asked, 2), "nobody tries again for a client that has gone"
