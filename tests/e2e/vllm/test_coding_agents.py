"""Coding agents, configured as the documentation says, work on a real vLLM: it generates the call and then the answer.

The copycat says what stands a fixed distance back, so the user's task holds both turns. Where each agent's prompt ends is found
out by having the model say where in a row of counters it starts to read.
"""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from openai import OpenAI

from tests.clients.agent_runs import ANSWER, do_task
from tests.clients.coding_agents import AGENTS, Agent
from tests.clients.running import Stage
from tests.clients.turns import call
from tests.e2e.vllm import copycat, servers
from tests.e2e.vllm.copycat import DISTANCE, FILLER, START, STOP_MARK, user
from tests.e2e.vllm.families import entry

# Agents bring prompts of ten to twenty thousand tokens.
LONG = ("--max-model-len=32768", "--max-num-batched-tokens=32768")
COPY = "cp notes.txt copied.txt; cat notes.txt"
CALLS = {
    "Codex CLI (Responses)": call("exec_command", cmd=COPY),
    "Codex CLI (Responses over WebSocket)": call("exec_command", cmd=COPY),
    "Claude Code (Messages)": call("Bash", command=COPY, description="Read the file"),
}
# Claude Code tells of its skills and of what it may do behind the task, in more tokens than the copycat looks back.
SHORT = ("-p", "PROMPT", "--tools", "Bash", "--allowedTools", "Bash", "--disable-slash-commands")
TRIED = [replace(agent, headless=SHORT) if agent.name == "Claude Code" else agent for agent in AGENTS if agent.key in CALLS]
# The counters of a group are said until its mark; the number says which group it is.
GROUP = 8
COUNTERS = 240
# Tokens of the call's result and its frame, at most: that far the second turn starts behind the first.
RESULT = 450

pytestmark = [pytest.mark.clients, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def stage(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A gateway in front of the copycat with a long context."""
    with servers.vllm_serving("copycat", logs, LONG) as engine:
        model = {**entry("copycat", engine, "hermes"), "aliases": ["claude-*"], "max_tokens": 1200}
        with servers.gateway_serving([model], logs) as url:
            yield Stage(url, engine, tmp_path_factory.mktemp("homes"), "copycat-hermes")


def tail(agent: Agent, stage: Stage) -> int:
    """Tokens of the agent's prompt behind the user's task."""
    counters = "".join(copycat.COUNTER.format(number) + STOP_MARK * (number % GROUP == GROUP - 1) for number in range(COUNTERS))
    home = stage.home_of(agent)
    printed, _ = do_task(agent, stage, home, counters)
    # The task is done in a folder of the same name, which stands in the prompt.
    shutil.rmtree(home)
    said = re.findall(rf"(?<![\dx])(\d{{0,4}})((?:x\d{{4}}){{1,{GROUP}}})\b", printed.replace(counters, ""))
    assert said, f"it said no counters: {printed[-800:]}"
    first, rest = said[-1]
    end = (int(rest[-4:]) + 1) * copycat.COUNTER_TOKENS + int(rest[-4:]) // GROUP
    whole = COUNTERS * copycat.COUNTER_TOKENS + COUNTERS // GROUP
    # Each character that was said is a token.
    return DISTANCE - (whole - (end - len(first + rest)))


@pytest.mark.parametrize("agent", TRIED, ids=lambda agent: agent.key)
def test_a_task_with_a_call(agent: Agent, stage: Stage) -> None:
    behind = tail(agent, stage)
    tokens = copycat.Stage(OpenAI(base_url=f"{stage.url}/v1", api_key="unused"), stage.model)
    first, second = CALLS[agent.key] + STOP_MARK, ANSWER + STOP_MARK
    empty = tokens.length([user(START)])
    used = tokens.length([user(START + first + FILLER * RESULT + second)]) - empty
    assert used + behind <= DISTANCE, "the two turns are longer than the model can look back"
    task = START + first + FILLER * RESULT + second + FILLER * (DISTANCE - behind - used)
    home = stage.home_of(agent)
    printed, _ = do_task(agent, stage, home, task)
    assert (home / "copied.txt").exists(), printed[-2000:]
    assert ANSWER in printed.replace(task, ""), printed[-2000:]
