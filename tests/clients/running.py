"""Runs a client's script against the gateway and reads what it says."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.catalog import SDK, Client
from tests.clients.install import folder_of, node_bin
from tests.clients.turns import FILE

Line = dict[str, Any]
RESULTS = Path(__file__).parent / "results.jsonl"
PATIENCE = 900.0
"""Seconds for all scenarios of a client. Where many things run at once, some clients take minutes to be imported alone."""
PASSED_ON = ("LANG", "LC_ALL", "TMPDIR")


@dataclass(frozen=True)
class Stage:
    """What every run needs: the gateway, the engine that fails, a place for folders, and the model that agents are given."""

    url: str
    engine: str
    folder: Path
    model: str = "scripted"

    def home_of(self, client: Client) -> Path:
        """A home and working folder of the client's own, with the file it is to read."""
        home = home_in(self.folder, client)
        home.mkdir(parents=True)
        (home / "notes.txt").write_text(FILE)
        return home

    def environment(self, home: Path, **more: str) -> dict[str, str]:
        """A small environment: nothing of the user's own settings, keys and proxies."""
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        path = f"{node_bin()}:{os.environ.get('PATH', '')}"
        ours = {"TOOLWIRE_URL": self.url, "TOOLWIRE_ENGINE": self.engine, "HOME": str(home), "PATH": path, "NO_PROXY": "*"}
        return {**kept, **ours, "DO_NOT_TRACK": "1", **more}

    def run_sdk(self, client: Client) -> list[Line]:
        """Run the client's script; what it printed about each scenario."""
        home = self.home_of(client)
        out, err = (home.parent / f"{home.name}.{stream}" for stream in ("out", "err"))
        environment = self.environment(home, PYTHONPATH=str(SDK), PYTHONDONTWRITEBYTECODE="1")
        with out.open("w") as told, err.open("w") as said:
            streams: Any = {"stdin": subprocess.DEVNULL, "stdout": told, "stderr": said}
            script = subprocess.Popen(command_of(client), cwd=home, env=environment, start_new_session=True, **streams)
            wrong = _ended_in_time(script)
        lines = [json.loads(line) for line in out.read_text().splitlines() if line.startswith('{"scenario"')]
        if wrong or not lines:
            said_last = err.read_text(errors="replace")[-500:]
            lines.append({"scenario": "C", "ok": False, "detail": f"its script {wrong or 'said nothing'}: {said_last}"})
        return [{"client": client.key, "version": client.version, **line} for line in lines]


def command_of(client: Client) -> list[str]:
    """What runs the client's script in the client's environment."""
    installed = folder_of(client)
    if client.script.suffix == ".py":
        return [str(installed / "bin" / "python"), str(client.script), client.argument]
    # Node looks for packages beside the script.
    for script in (client.script, SDK / "scenarios.mjs"):
        _place(script, installed)
    return [str(node_bin() / "node"), str(installed / client.script.name), client.argument]


def _place(script: Path, folder: Path) -> None:
    """Copy in one step, for another process may be reading it."""
    fresh = folder / f".{os.getpid()}-{script.name}"
    shutil.copy(script, fresh)
    fresh.replace(folder / script.name)


def _ended_in_time(running: subprocess.Popen[bytes]) -> str:
    """How the script ended, if not well."""
    try:
        status = running.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        return f"was stopped after {PATIENCE:.0f} s"
    return f"ended with {status}" if status else ""


def home_in(folder: Path, client: Client) -> Path:
    """Where the client's home is."""
    return folder / re.sub(r"\W+", "-", client.key).strip("-")


def unexplained(lines: Sequence[Line]) -> list[Line]:
    """The failures that are not known to be the client's own."""
    return [line for line in lines if line["ok"] is False and not line.get("known")]


def read_results() -> list[Line]:
    """The lines of the last run of each client."""
    return _parsed(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []


def keep_results(lines: Sequence[Line]) -> None:
    """Put these lines in place of the same clients' earlier ones; several processes may do so at once."""
    anew = {line["client"] for line in lines}
    with RESULTS.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        kept = [line for line in _parsed(file.read()) if line["client"] not in anew] + list(lines)
        kept.sort(key=lambda line: (line["client"], line["scenario"]))
        file.truncate(0)
        file.write("".join(json.dumps(line) + "\n" for line in kept))


def _parsed(text: str) -> list[Line]:
    return [json.loads(line) for line in text.splitlines()]
