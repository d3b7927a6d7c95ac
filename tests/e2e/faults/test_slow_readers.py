"""Clients that take nothing of what they are sent cost little, and not for long."""

from collections.abc import Iterator

import pytest

from tests.e2e.faults.clients import PATHS, Caller
from tests.e2e.faults.conftest import Site, entry
from tests.e2e.faults.sockets import Conversation
from tests.support.engines import engine_processes
from tests.support.process import gateway_process
from tests.support.server import wait_for

MEGABYTE = 1_000_000
LONG = {"pieces": ["x" * 50_000], "times": 800}


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("slow")
    with engine_processes(1) as engines:
        settings = {"models": [entry(folder, engines)], "server": {"write_timeout": 2}}
        with gateway_process(folder, settings) as gateway:
            yield Site(gateway, engines)


def test_slow_readers(impatient: Site) -> None:
    """Forty megabytes for each of six who read nothing."""
    gateway, (engine,) = impatient.gateway, impatient.engines
    engine.play(**LONG)
    before, files = gateway.memory(), gateway.files()
    callers = [Caller(gateway.url, path, narrow=True) for path in (*PATHS, *PATHS)]
    assert wait_for(lambda: engine.told().asked == 6)
    most = 0

    def over() -> bool:
        nonlocal most
        most = max(most, gateway.memory())
        return engine.told().left == 6

    assert wait_for(over), "they were not given up"
    assert gateway.idle()
    assert most - before < 100 * MEGABYTE, "240 megabytes were to be sent"
    assert wait_for(lambda: gateway.files() <= files + 1), "a connection is still open"
    assert "took nothing for 2 s" in gateway.log.read_text()
    for caller in callers:
        caller.hang_up()


def test_one_who_reads_slowly_but_reads_gets_everything(impatient: Site) -> None:
    gateway, (engine,) = impatient.gateway, impatient.engines
    engine.play(pieces=["y" * 50_000], times=4)
    got = b""
    with Caller(gateway.url, narrow=True) as caller:
        while b"[DONE]" not in got[-4000:]:
            got += caller.read()
    assert got.count(b"y") >= 200_000


def test_a_websocket_that_is_not_read(impatient: Site) -> None:
    gateway, (engine,) = impatient.gateway, impatient.engines
    engine.play(**LONG)
    before, files = engine.told().left, gateway.files()
    conversation = Conversation(gateway.url, reads=False)
    assert wait_for(lambda: engine.told().left == before + 1)
    assert wait_for(lambda: gateway.files() <= files), "the connection is still open"
    conversation.hang_up()


def test_a_whole_answer_waits_for_nobody_either(impatient: Site) -> None:
    gateway, (engine,) = impatient.gateway, impatient.engines
    engine.play(**LONG)
    files = gateway.files()
    with Caller(gateway.url, stream=False, narrow=True):
        assert wait_for(lambda: engine.told().running == 0 and gateway.idle())
        assert wait_for(lambda: gateway.files() <= files + 1), "the connection is still open"
