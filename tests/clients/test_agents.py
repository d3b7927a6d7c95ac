"""The coding agents people run, each doing a real task over a real socket (`make test-clients-all`)."""

import pytest

from tests.clients.agent_runs import run_agent
from tests.clients.coding_agents import AGENTS, Agent
from tests.clients.running import Line, Stage


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.key)
def test_task(agent: Agent, stage: Stage, results: list[Line]) -> None:
    line = run_agent(agent, stage)
    results.append(line)
    assert line["ok"], line["detail"]
