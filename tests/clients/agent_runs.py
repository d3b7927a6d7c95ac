"""Runs a coding agent without a terminal: its configuration written as the documentation says it, its task, what it printed."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.clients.coding_agents import ADDRESS, AGENTS, Agent
from tests.clients.install import folder_of
from tests.clients.running import Line, Stage, home_in
from tests.clients.turns import SECRET, call

ANSWER = f"The file says that the code is {SECRET}."
PATIENCE = 300.0
LINGER = 20.0
"""Seconds an agent gets to end after it has answered; some do not end by themselves."""
NOWHERE = "http://127.0.0.1:9"
"""A proxy that is not there: agents reach the gateway and nothing else."""


def agent_turns(folder: Path) -> list[dict[str, Any]]:
    """What the model says to each agent's task: a call of its own tool."""
    turns = []
    for agent in AGENTS:
        path = str(home_in(folder, agent) / "notes.txt")
        arguments = json.loads(json.dumps(agent.arguments).replace("PATH", path))
        turns.append({"match": agent.prompt, "text": call(agent.tool, **arguments) if agent.tool else ANSWER})
    return turns


def run_agent(agent: Agent, stage: Stage) -> Line:
    """The line about its one task."""
    printed, ended = do_task(agent, stage, stage.home_of(agent), agent.prompt)
    ok = ANSWER in printed and not (agent.never and agent.never in printed)
    well = [] if agent.tool else ["it has no tools, and sends the file"]
    well += [] if ended else ["it answers, but does not end by itself"]
    detail = "; ".join(well) if ok else f"it printed: {printed[-500:]}"
    return {"client": agent.key, "version": agent.version, "scenario": "C", "ok": ok, "detail": detail}


def do_task(agent: Agent, stage: Stage, home: Path, task: str) -> tuple[str, bool]:
    """What the agent prints when it is configured as documented and given this task, and whether it ends by itself.

    It gets less time once it has printed the answer, unless that stands in the task.
    """
    awaited = None if ANSWER in task else ANSWER
    for path, text in agent.files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(filled(text, stage))
    with _no_process_left(home):
        if agent.before:
            _run(agent, stage, home, agent.before, None)
        arguments = (*agent.always, *(task if argument == "PROMPT" else argument for argument in agent.headless))
        return _run(agent, stage, home, arguments, awaited)


def filled(text: str, stage: Stage) -> str:
    """A line of the documentation with the place and the model it is meant for."""
    return text.replace("MODEL", stage.model).replace(ADDRESS, stage.url)


def environment(agent: Agent, stage: Stage, home: Path) -> Mapping[str, str]:
    """What the documentation says, and nothing of the user's own."""
    own = {name: filled(value, stage) for name, value in {**agent.variables, **agent.quiet}.items()}
    proxies = {"HTTP_PROXY": NOWHERE, "HTTPS_PROXY": NOWHERE, "NO_PROXY": "127.0.0.1,localhost"}
    # Claude Code refuses to work unasked as root, unless it is told that it is in a sandbox.
    return {**stage.environment(home, **proxies), "TERM": "dumb", "IS_SANDBOX": "1", **own}


def _run(agent: Agent, stage: Stage, home: Path, arguments: tuple[str, ...], awaited: str | None) -> tuple[str, bool]:
    """What it printed, and whether it ended by itself."""
    command = str(folder_of(agent) / agent.executable)
    log = home.parent / f"{home.name}.log"
    with log.open("w") as out:
        running = subprocess.Popen(
            [command, *(filled(argument, stage) for argument in arguments)],
            cwd=home,
            env=dict(environment(agent, stage, home)),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        deadline = time.monotonic() + PATIENCE
        while running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
            if awaited and awaited in log.read_text(errors="replace"):
                deadline = min(deadline, time.monotonic() + LINGER)
        ended = running.poll() is not None
        if not ended:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
    return log.read_text(errors="replace"), ended


@contextlib.contextmanager
def _no_process_left(home: Path) -> Iterator[None]:
    """Ends what the agent leaves running, such as Cline's daemon: all that has this home."""
    try:
        yield
    finally:
        mark = f"HOME={home}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
