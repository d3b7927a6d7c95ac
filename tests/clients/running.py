"""Runs a client's script against the gateway and reads what it says."""

import json
import os
import re
import shutil
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
PATIENCE = 200
PASSED_ON = ("LANG", "LC_ALL", "TMPDIR")


@dataclass(frozen=True)
class Stage:
    """What every run needs: the gateway, the engine that fails, and a place for folders."""

    url: str
    engine: str
    folder: Path

    def home_of(self, client: Client) -> Path:
        """A home and working folder of the client's own, with the file it is to read."""
        home = home_in(self.folder, client)
        home.mkdir()
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
        installed, home = folder_of(client), self.home_of(client)
        if client.script.suffix == ".mjs":
            # Node looks for packages beside the script.
            for script in (client.script, SDK / "scenarios.mjs"):
                shutil.copy(script, installed)
            command = [str(node_bin() / "node"), str(installed / client.script.name), client.argument]
        else:
            command = [str(installed / "bin" / "python"), str(client.script), client.argument]
        done = subprocess.run(
            command,
            cwd=home,
            env=self.environment(home, PYTHONPATH=str(SDK), PYTHONDONTWRITEBYTECODE="1"),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or not lines:
            lines.append(
                {"scenario": "C", "ok": False, "detail": f"its script ended with {done.returncode}: {done.stderr[-500:]}"}
            )
        return [{"client": client.key, "version": client.version, **line} for line in lines]


def home_in(folder: Path, client: Client) -> Path:
    """Where the client's home is."""
    return folder / re.sub(r"\W+", "-", client.key).strip("-")


def unexplained(lines: Sequence[Line]) -> list[Line]:
    """The failures that are not known to be the client's own."""
    return [line for line in lines if line["ok"] is False and not line.get("known")]


def read_results() -> list[Line]:
    """The lines of the last run of each client."""
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()] if RESULTS.exists() else []


def keep_results(lines: Sequence[Line]) -> None:
    """Put these lines in place of the same clients' earlier ones."""
    anew = {line["client"] for line in lines}
    kept = [line for line in read_results() if line["client"] not in anew] + list(lines)
    kept.sort(key=lambda line: (line["client"], line["scenario"]))
    RESULTS.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
