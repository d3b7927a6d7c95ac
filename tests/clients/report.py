"""Writes docs/clients.md from the results of the last runs: `python -m tests.clients.report`."""

from collections.abc import Sequence
from pathlib import Path

from tests.clients.catalog import FRAMEWORKS, SCENARIOS, SDKS, Client
from tests.clients.coding_agents import AGENTS
from tests.clients.framework_setups import FRAMEWORK_SETUPS
from tests.clients.running import Line, read_results
from tests.clients.setups import SETUPS
from tests.clients.texts import AGENTS_BESIDE, AGENTS_DO, BEGINNING, FAILURES_ARE, NOTES_ARE

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"
FAILURES = ("F", "G")


def page(lines: Sequence[Line]) -> str:
    """The whole page."""
    clients = [*SDKS, *FRAMEWORKS]
    libraries = ["## Libraries and frameworks", table(clients, lines), legend()]
    libraries += [FAILURES_ARE, failures(clients, lines), NOTES_ARE, notes(clients, lines)]
    agents = ["## Coding agents", AGENTS_DO, agent_table(lines), AGENTS_BESIDE]
    setups = ["## Setting them up", *(setup(*known) for known in (SETUPS | FRAMEWORK_SETUPS).items()), *agent_setups()]
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


def failures(clients: Sequence[Client], lines: Sequence[Line]) -> str:
    """What becomes of errors in each client. The engine fails with 400, 429, 500 (which becomes 502), and with 503 twice."""
    rows = ["| client | F | G |", "|---|---|---|"]
    for client in clients:
        found = {line["scenario"]: line for line in lines if line["client"] == client.key}
        if found:
            rows.append(f"| {client.key} | {' | '.join(told(found.get(name)) for name in FAILURES)} |")
    return "\n".join(rows)


def notes(clients: Sequence[Client], lines: Sequence[Line]) -> str:
    """What clients told of the other scenarios beside success."""
    rows = ["| client | | |", "|---|:-:|---|"]
    for client in clients:
        found = [line for line in lines if line["client"] == client.key and line["scenario"] not in FAILURES]
        rows += [f"| {client.key} | {line['scenario']} | {told(line)} |" for line in found if line["detail"] or not line["ok"]]
    return "\n".join(rows)


def told(line: Line | None) -> str:
    """A line's words, behind its mark unless it is well."""
    if line is None:
        return ""
    words = in_cell(line["detail"])
    return words if line["ok"] else f"{mark(line)} {words}"


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


def setup(title: str, lines: tuple[str, str]) -> str:
    """How one client is configured."""
    language, code = lines
    return f"### {title}\n\n```{language}\n{code.strip()}\n```"


if __name__ == "__main__":
    PAGE.write_text(page(read_results()), encoding="utf-8")
    print(f"written: {PAGE.relative_to(PAGE.parents[1])}")
