"""Writes docs/clients.md from the results of the last runs: `python -m tests.clients.report`."""

from collections.abc import Sequence
from pathlib import Path

from tests.clients.catalog import FRAMEWORKS, SCENARIOS, SDKS, Client
from tests.clients.coding_agents import AGENTS
from tests.clients.running import Line, read_results
from tests.clients.setups import SETUPS

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"
BEGINNING = """\
# Clients

Any client of OpenAI's Chat Completions or Responses, or of Anthropic's Messages, works once it has this gateway's address.
OpenAI's clients want it with `/v1`, Anthropic's without. The key can be anything.

This page is written by `make test-clients` and `make test-clients-all`. They install each client into an environment of its
own and let it work against the gateway over a real socket: the model's turns are scripted, everything else is real.
"""
AGENTS_DO = """\
Each is asked in a home of its own, without a terminal, to read a file and tell what it says: it calls its own tool, sends the
result and prints the model's answer.
"""


def page(lines: Sequence[Line]) -> str:
    """The whole page."""
    clients = [*SDKS, *FRAMEWORKS]
    libraries = ["## Libraries and frameworks", table(clients, lines), legend(), notes(clients, lines)]
    agents = ["## Coding agents", AGENTS_DO, agent_table(lines)]
    setups = ["## Setting them up", *(setup(title) for title in SETUPS), *agent_setups()]
    return "\n\n".join(part.strip() for part in (BEGINNING, *libraries, *agents, *setups)) + "\n"


def table(clients: Sequence[Client], lines: Sequence[Line]) -> str:
    """One row a client, one column a scenario."""
    rows = [f"| client | version | API | {' | '.join(SCENARIOS)} |", "|---|---|---|" + ":-:|" * len(SCENARIOS)]
    for client in clients:
        found = {line["scenario"]: line for line in lines if line["client"] == client.key}
        version = next((line["version"] for line in found.values()), client.version)
        rows.append(f"| {client.name} | {version} | {client.api} | {' | '.join(mark(found.get(name)) for name in SCENARIOS)} |")
    return "\n".join(rows)


def mark(line: Line | None) -> str:
    """Whether a scenario works; a dash for what the client does not have."""
    return "" if line is None else {True: "✔", False: "✘", None: "–"}[line["ok"]]


def legend() -> str:
    """What the letters stand for."""
    return "\n".join(f"- **{name}** {meaning}" for name, meaning in SCENARIOS.items())


def notes(clients: Sequence[Client], lines: Sequence[Line]) -> str:
    """What clients told beside success. The engine fails with 400, 429, 500 (which becomes 502), and with 503 twice."""
    keys = [client.key for client in clients]
    told = [line for key in keys for line in lines if line["client"] == key and (line["detail"] or not line["ok"])]
    rows = ["| client | | what happened |", "|---|:-:|---|"]
    rows += [f"| {line['client']} | {line['scenario']} {mark(line)} | {in_cell(line['detail'])} |" for line in told]
    return "\n".join(rows)


def agent_table(lines: Sequence[Line]) -> str:
    """One row an agent."""
    rows = ["| agent | version | API | reads the file and answers | |", "|---|---|---|:-:|---|"]
    for agent in AGENTS:
        line = next((line for line in lines if line["client"] == agent.key), None)
        told = ("", "") if line is None else (mark(line), in_cell(line["detail"]))
        rows.append(f"| {agent.name} | {line['version'] if line else agent.version} | {agent.api} | {' | '.join(told)} |")
    return "\n".join(rows)


def agent_setups() -> list[str]:
    """How each agent is configured, once for each."""
    return list({agent.name: agent.setup() for agent in reversed(AGENTS)}.values())[::-1]


def in_cell(text: str) -> str:
    """A text that stays in its cell."""
    return text.replace("|", "\\|").replace("\n", " ")


def setup(title: str) -> str:
    """How one client is configured."""
    language, code = SETUPS[title]
    return f"### {title}\n\n```{language}\n{code.strip()}\n```"


if __name__ == "__main__":
    PAGE.write_text(page(read_results()), encoding="utf-8")
    print(f"written: {PAGE.relative_to(PAGE.parents[1])}")
