"""Real servers on the loopback interface, each in a process group of its own: started, waited for, stopped."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.e2e.vllm import install

ENGINE_PATIENCE = 400.0
GATEWAY_PATIENCE = 180.0
ENGINE_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    # Two threads that wait for one another on a shared machine are twenty times slower than one.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}
GATEWAY_ENVIRONMENT = {"PYTHONFAULTHANDLER": "1"}
"""Where an engine inside of it ends the process, its log tells where."""
ENGINE_OPTIONS = (
    "--enforce-eager",
    "--dtype=bfloat16",
    "--max-model-len=8192",
    "--max-num-seqs=16",
    # Prompts that are read in parts rewind the sampler of a request with a seed, which ends the engine on a CPU.
    "--max-num-batched-tokens=16384",
    # `auto` would let the first constrained request choose the grammar engine for all later ones.
    '--structured-outputs-config={"backend": "xgrammar"}',
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path, *, patience: float) -> None:
    deadline = time.monotonic() + patience
    while not answers(url):
        if process.poll() is not None or time.monotonic() > deadline:
            state = "still not ready" if process.returncode is None else f"exited with {process.returncode}"
            raise RuntimeError(f"{url}: {state}; the end of {log}:\n{log.read_text(errors='replace')[-4000:]}")
        time.sleep(0.3)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the server to end; after 20 s, and for children that stayed behind, end the group."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@contextmanager
def served(
    command: Sequence[str], *, ready: str, log: Path, environment: Mapping[str, str], patience: float
) -> Iterator[subprocess.Popen[bytes]]:
    """The server that this command starts, from when `ready` answers 200 until the block is left. It leads a process group."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env={**install.clean_environment(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_until_ready(process, ready, log, patience=patience)
            yield process
        finally:
            stop(process)


@contextmanager
def vllm_process(name: str, logs: Path, options: Sequence[str] = ()) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A real vLLM that serves the model of this name, and its address; `options` overrule those that are always given."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    module = ("-m", "vllm.entrypoints.openai.api_server")
    where = (f"--model={install.model_folder(name)}", f"--served-model-name={name}", "--host=127.0.0.1", f"--port={port}")
    command = (str(install.engine_python()), *module, *where, *ENGINE_OPTIONS, *options)
    log = logs / f"vllm-{name}-{port}.log"
    with served(command, ready=f"{url}/health", log=log, environment=ENGINE_ENVIRONMENT, patience=ENGINE_PATIENCE) as process:
        yield url, process


@contextmanager
def vllm_serving(name: str, logs: Path, options: Sequence[str] = ()) -> Iterator[str]:
    """The address of such a server."""
    with vllm_process(name, logs, options) as (url, _):
        yield url


@contextmanager
def gateway_serving(models: Sequence[Mapping[str, Any]], logs: Path, options: Sequence[str] = ()) -> Iterator[str]:
    """The address of the gateway in front of these model entries, started as an operator would start it with these options."""
    port = free_port()
    config = logs / f"toolwire-{port}.yaml"
    where = {"server": {"host": "127.0.0.1", "port": port}, "recordings": {"folder": str(logs / "recordings")}}
    config.write_text(yaml.safe_dump({**where, "models": list(models)}, allow_unicode=True))
    url = f"http://127.0.0.1:{port}"
    command = (sys.executable, "-m", "gateway", "serve", "--config", str(config), *options)
    log = logs / f"gateway-{port}.log"
    with served(command, ready=f"{url}/ready", log=log, environment=GATEWAY_ENVIRONMENT, patience=GATEWAY_PATIENCE):
        yield url
