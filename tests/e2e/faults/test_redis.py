"""Redis dies under load and comes back: nobody notices, and limits are shared again afterwards."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e.faults.clients import Background, ask, outcomes
from tests.e2e.faults.conftest import entry
from tests.support.engines import EngineProcess, engine_processes
from tests.support.keys import issue
from tests.support.process import GatewayProcess, gateway_process
from tests.support.redis import MISSING, PROGRAM, redis_server
from tests.support.server import wait_for

LIMITS = {"requests_per_minute": 100_000, "concurrent_requests": 50}


@pytest.mark.faults
@pytest.mark.skipif(PROGRAM is None, reason=MISSING)
def test_redis_dies_and_comes_back(tmp_path: Path) -> None:
    key = issue(tmp_path / "keys.jsonl", "load", limits=LIMITS)
    with ExitStack() as stack:
        engines = stack.enter_context(engine_processes(1))
        with redis_server(folder=tmp_path) as url:  # which is killed
            gateway = stack.enter_context(gateway_process(tmp_path, settings(tmp_path, engines, url)))
            load = Background(partial(ask, gateway.url, key=key), clients=4)
            assert wait_for(lambda: len(load.seen) > 5)
            assert uncounted(gateway) == 0
        assert wait_for(lambda: uncounted(gateway) > 5), "the gateway counts for itself"
        stack.enter_context(redis_server(urlsplit(url).port, folder=tmp_path))
        assert wait_for(lambda: counts_again(gateway, load))
        seen = load.stop()
    assert outcomes(seen) == {"whole": len(seen)}
    assert max(one.seconds for one in seen) < 20


def settings(folder: Path, engines: list[EngineProcess], redis: str) -> dict[str, Any]:
    """A gateway that keeps limits in this Redis."""
    auth = {"keys_file": str(folder / "keys.jsonl"), "metrics": "open"}
    return {"models": [entry(folder, engines)], "store": {"kind": "redis", "url": redis}, "auth": auth}


def uncounted(gateway: GatewayProcess) -> float:
    """Requests for which Redis could not be asked."""
    return gateway.metric("toolwire_uncounted_requests_total")


def counts_again(gateway: GatewayProcess, load: Background) -> bool:
    """Whether some requests pass and Redis is asked for all of them."""
    before, seen = uncounted(gateway), len(load.seen)
    assert wait_for(lambda: len(load.seen) > seen + 8)
    return uncounted(gateway) == before
