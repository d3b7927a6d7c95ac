"""A gateway that is told to stop: running answers end, nothing new begins, and whoever cannot be waited for is told."""

import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.faults.clients import CHAT, PATHS, Background, Seen, ask, begun, ended, outcomes
from tests.e2e.faults.conftest import Site, entry
from tests.e2e.faults.sockets import Conversation
from tests.support.engines import EngineProcess, engine_processes
from tests.support.process import GatewayProcess, gateway_process
from tests.support.server import CLIENT, PATIENCE, wait_for

STOPPING = "server_stopping"


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with engine_processes(1) as (one,):
        yield one


@pytest.fixture
def site(tmp_path: Path, engine: EngineProcess, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A gateway of the test's own, whose running answers get as many seconds as the test says."""
    engine.revive()
    settings = {"models": [entry(tmp_path, [engine])], "server": {"drain": request.param}}
    with gateway_process(tmp_path, settings) as gateway:
        yield Site(gateway, [engine])


@pytest.mark.parametrize("site", [60], indirect=True)
def test_running_answers_end_and_nothing_new_begins(site: Site, engine: EngineProcess) -> None:
    gateway = site.gateway
    engine.play(pieces=["word "] * 4, delay=2.0)
    running = begun([*(partial(ask, gateway.url, path) for path in PATHS), partial(ask, gateway.url, stream=False)])
    conversation = Conversation(gateway.url)
    assert wait_for(lambda: engine.running() == 5)
    gateway.signal()
    assert wait_for(lambda: gateway.ready().status_code == 503)
    assert gateway.ready().json()["status"] == "stopping"
    assert CLIENT.get(f"{gateway.url}/health").status_code == 200
    refused = gateway.post({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, STOPPING)
    assert refused.headers["connection"] == "close"
    assert (refused.headers["retry-after"], refused.headers["x-should-retry"]) == ("1", "true")
    conversation.create()
    assert outcomes(ended(running)) == {"whole": 4}
    assert gateway.ended(PATIENCE) == 0
    conversation.end()
    assert conversation.types.count("response.completed") == 1
    assert conversation.last["error"]["code"] == STOPPING, "the second request on the connection"
    assert conversation.close_code in (1001, 1012)


@pytest.mark.parametrize("site", [1], indirect=True)
def test_whoever_is_left_is_told_in_the_words_of_the_protocol(site: Site, engine: EngineProcess) -> None:
    gateway = site.gateway
    engine.play(pieces=["word "] * 4, delay=300)
    streams = begun([partial(ask, gateway.url, path) for path in PATHS])
    whole = begun([partial(ask, gateway.url, path, stream=False) for path in PATHS])
    conversation = Conversation(gateway.url)
    assert wait_for(lambda: engine.running() == 7 and "response.output_text.delta" in conversation.types)
    gateway.signal()
    seen = ended(streams)
    assert outcomes(seen) == {"told": 3}, seen
    assert all("stopped before the answer was complete" in one.text for one in seen)
    assert {(one.outcome, one.status) for one in ended(whole)} == {("refused", 503)}
    assert conversation.end() == "response.failed"
    assert gateway.ended(PATIENCE) == 0
    assert wait_for(lambda: engine.running() == 0)
    assert "Traceback" not in gateway.log.read_text()


@pytest.mark.parametrize("site", [300], indirect=True)
def test_a_second_signal_ends_all_at_once(site: Site, engine: EngineProcess) -> None:
    gateway = site.gateway
    engine.play(pieces=["word "] * 4, delay=300)
    running = begun([partial(ask, gateway.url)])
    assert wait_for(lambda: engine.running() == 1)
    gateway.signal()
    assert gateway.ended(1) is None
    gateway.signal(signal.SIGINT)
    assert gateway.ended(PATIENCE) == 0
    assert ended(running)[0].outcome in ("cut", "told")
    assert wait_for(lambda: engine.running() == 0)


@pytest.mark.faults
def test_gateways_are_restarted_one_after_the_other_under_load(tmp_path: Path, engine: EngineProcess) -> None:
    """Clients with two addresses, as behind a load balancer: nobody loses a request."""
    engine.revive()
    engine.play(pieces=["word "] * 5, delay=0.1)
    settings = {"models": [entry(tmp_path, [engine])], "server": {"drain": 60}}
    gateways = [GatewayProcess(tmp_path, settings) for _ in range(2)]

    def one() -> Seen:
        """Asks the first that takes the request."""
        for url in sorted((gateway.url for gateway in gateways), key=lambda url: hash((url, time.monotonic()))):
            seen = ask(url, CHAT)
            if seen.status == 200:
                return seen
            assert seen.status in (0, 503), seen
        return seen

    try:
        load = Background(one, clients=6)
        for place in range(2):
            old = gateways[place]
            time.sleep(1)
            old.signal()
            assert old.ended(90) == 0
            gateways[place] = GatewayProcess(tmp_path, settings)
        seen = load.stop()
    finally:
        for gateway in gateways:
            gateway.kill()
    assert outcomes(seen).keys() == {"whole"}
    assert len(seen) > 20
