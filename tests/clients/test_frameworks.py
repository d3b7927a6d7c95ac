"""The frameworks that few tests can wait for, each in its own environment, over a real socket (`make test-clients-all`)."""

import pytest

from tests.clients.catalog import FRAMEWORKS, SCENARIOS, Client
from tests.clients.running import Line, Stage, unexplained


@pytest.mark.parametrize("client", FRAMEWORKS, ids=lambda client: client.key)
def test_scenarios(client: Client, stage: Stage, results: list[Line]) -> None:
    lines = stage.run_sdk(client)
    results.extend(lines)
    assert unexplained(lines) == []
    assert [line["scenario"] for line in lines] == list(SCENARIOS)
