"""The official clients and the frameworks, each in its own environment, over a real socket (`make test-clients`)."""

import pytest

from tests.clients.catalog import SCENARIOS, SDKS, Client
from tests.clients.running import Line, Stage, unexplained


@pytest.mark.parametrize("client", SDKS, ids=lambda client: client.key)
def test_scenarios(client: Client, stage: Stage, results: list[Line]) -> None:
    lines = stage.run_sdk(client)
    results.extend(lines)
    assert unexplained(lines) == []
    assert [line["scenario"] for line in lines] == list(SCENARIOS)
