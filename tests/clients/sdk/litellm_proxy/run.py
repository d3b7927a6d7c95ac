"""LiteLLM's proxy between the official Python client and the gateway: `run.py chat` or `run.py responses`."""

import json
import os
import runpy
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

MODELS = ("scripted", "fails-400", "fails-429", "fails-500", "busy", "dies")
PATIENCE = 500.0
SWITCHES = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def config() -> str:
    """A YAML file, for JSON is YAML."""
    where = {"api_base": f"{os.environ['TOOLWIRE_URL']}/v1", "api_key": "unused"}
    models = [{"model_name": name, "litellm_params": {"model": f"openai/{name}", **where}} for name in MODELS]
    # The official client retries by itself.
    return json.dumps({"model_list": models, "litellm_settings": {"num_retries": 0}, "router_settings": {"num_retries": 0}})


def wait_until_ready(proxy: subprocess.Popen[bytes], address: str) -> None:
    """Where much else runs, it takes minutes to start."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            opener.open(f"{address}/health/liveliness", timeout=5)
            return
        except OSError:
            if proxy.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(Path("proxy.log").read_text()[-2000:]) from None
            time.sleep(0.5)


Path("config.yaml").write_text(config())
port = free_port()
command = [f"{Path(sys.executable).parent}/litellm", "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
with Path("proxy.log").open("w") as log:
    proxy = subprocess.Popen(command, env={**os.environ, **SWITCHES}, stdout=log, stderr=subprocess.STDOUT)
try:
    os.environ["TOOLWIRE_URL"] = f"http://127.0.0.1:{port}"
    wait_until_ready(proxy, os.environ["TOOLWIRE_URL"])
    runpy.run_path(str(Path(__file__).parents[1] / "openai_python" / "run.py"), run_name="__main__")
finally:
    proxy.terminate()
    proxy.wait()
