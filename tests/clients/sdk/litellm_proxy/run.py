"""LiteLLM's proxy between the official Python client and the gateway: `run.py chat`, `run.py responses` or `run.py messages`."""

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


Path("config.yaml").write_text(config())
port = free_port()
command = [f"{Path(sys.executable).parent}/litellm", "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
with Path("proxy.log").open("w") as log:
    proxy = subprocess.Popen(
        command,
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"},
        stdout=log,
        stderr=subprocess.STDOUT,
    )
try:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(200):
        try:
            opener.open(f"http://127.0.0.1:{port}/health/liveliness", timeout=5)
            break
        except OSError:
            if proxy.poll() is not None:
                raise SystemExit(Path("proxy.log").read_text()[-2000:]) from None
            time.sleep(0.5)
    os.environ["TOOLWIRE_URL"] = f"http://127.0.0.1:{port}"
    runpy.run_path(str(Path(__file__).parents[1] / "openai_python" / "run.py"), run_name="__main__")
finally:
    proxy.terminate()
    proxy.wait()
