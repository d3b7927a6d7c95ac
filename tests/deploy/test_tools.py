"""The files in deploy/ as the tools see them that read them: `make test-deploy` installs these."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.test_guide import blocks
from tests.support.server import STARTING, wait_for

pytestmark = pytest.mark.deploy
ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
PROFILES = ("cpu", "redis", "monitoring")
TOOLS = Path(os.environ.get("TOOLWIRE_CACHE") or ROOT / ".cache") / "deploy" / "bin"


def run(*command: str | Path, **more: Any) -> str:
    """What the command prints; its complaint where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT, check=False, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_dockerfile_is_clean() -> None:
    run(TOOLS / "hadolint", "Dockerfile")


def test_compose_takes_its_file() -> None:
    options = [word for profile in PROFILES for word in ("--profile", profile)]
    told = yaml.safe_load(run(TOOLS / "docker-compose", *options, "config", env={**os.environ, "MODEL": "some/model"}))
    assert {"vllm", "gateway", "cpu", "redis", "prometheus", "grafana"} == told["services"].keys()
    assert "--model=some/model" in told["services"]["vllm"]["command"]
    assert told["services"]["gateway"]["environment"]["TOOLWIRE_MODELS__0__TOKENIZER"] == "some/model"


def test_without_a_profile_compose_starts_the_engine_and_the_gateway() -> None:
    assert set(run(TOOLS / "docker-compose", "config", "--services").split()) == {"vllm", "gateway"}


def test_compose_takes_the_override_of_the_guide(tmp_path: Path) -> None:
    (text,) = blocks("services:\n  gateway:")
    override = tmp_path / "override.yml"
    override.write_text(text, encoding="utf-8")
    told = run(TOOLS / "docker-compose", "-f", "docker-compose.yml", "-f", override, "config", "--format", "json")
    gateway = json.loads(told)["services"]["gateway"]
    assert gateway["command"] == ["toolwire", "serve"], "without --insecure"
    assert gateway["environment"]["TOOLWIRE_CONFIG"], "what was there stays"
    assert [(port.get("host_ip"), port["published"]) for port in gateway["ports"]] == [(None, "8000")]
    mounted = {volume["target"] for volume in gateway["volumes"]}
    assert str(Path(gateway["environment"]["TOOLWIRE_AUTH__KEYS_FILE"]).parent) in mounted


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd reads its own units")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "toolwire.service"
    text = (ROOT / "deploy" / "toolwire.service").read_text(encoding="utf-8")
    unit.write_text(text.replace("/opt/toolwire/bin/toolwire", sys.executable), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if "toolwire.service" in line] == []


def test_kubernetes_takes_every_resource(tmp_path: Path) -> None:
    resources = tmp_path / "all.yaml"
    resources.write_text(_resources(), encoding="utf-8")
    told = run(TOOLS / "kubernetes-validate", "--strict", "--kubernetes-version", "1.34", resources)
    kinds = {resource["kind"] for resource in yaml.safe_load_all(resources.read_text(encoding="utf-8"))}
    assert {"Deployment", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", "StatefulSet"} <= kinds
    assert "failed" not in told


def _resources() -> str:
    """What is applied, where kubectl can put it together; else the files as they are."""
    if shutil.which("kubectl"):
        return run("kubectl", "kustomize", KUBERNETES / "example")
    files = (*KUBERNETES.glob("base/*.yaml"), *KUBERNETES.glob("example/*.yaml"))
    texts = [path.read_text(encoding="utf-8") for path in files if path.name not in ("kustomization.yaml", "toolwire.yaml")]
    return "\n---\n".join(texts)


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl puts the overlay together")
def test_the_network_policy_lets_through_what_the_overlay_runs() -> None:
    resources = list(yaml.safe_load_all(_resources()))
    policy = next(one for one in resources if one["kind"] == "NetworkPolicy" and one["metadata"]["name"] == "toolwire")
    allowed = [to["podSelector"]["matchLabels"] for rule in policy["spec"]["egress"] for to in rule.get("to", ())]
    for name in ("vllm", "redis"):
        pods = next(one for one in resources if one["kind"] == "StatefulSet" and one["metadata"]["name"] == name)
        assert pods["spec"]["template"]["metadata"]["labels"] in allowed


def test_the_steps_of_the_image_give_a_gateway_that_answers(tmp_path: Path) -> None:
    home = tmp_path / "toolwire"
    for part in ("dependencies", "package"):
        run(ROOT / "deploy" / "install.sh", home, part, env={**os.environ, "PYTHON": sys.executable})
    turns = tmp_path / "turns.jsonl"
    turns.write_text(json.dumps({"match": None, "text": "Hello."}) + "\n", encoding="utf-8")
    model = {"name": "scripted", "backend": "replay", "turns": str(turns), "parser": "hermes"}
    config = tmp_path / "toolwire.yaml"
    config.write_text(yaml.safe_dump({"server": {"port": 0}, "models": [model]}), encoding="utf-8")
    log = tmp_path / "log"
    with (
        log.open("wb") as sink,
        subprocess.Popen([home / "bin" / "toolwire", "serve", "--config", config], stdout=sink, cwd=tmp_path) as running,
    ):
        try:
            assert wait_for(lambda: "Listening on" in log.read_text(encoding="utf-8"), STARTING)
            url = log.read_text(encoding="utf-8").partition("Listening on ")[2].split()[0]
            body = json.dumps({"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}).encode()
            asked = urllib.request.Request(f"{url}/chat/completions", body, {"content-type": "application/json"})
            with urllib.request.urlopen(asked, timeout=30) as answer:
                assert json.load(answer)["choices"][0]["message"]["content"] == "Hello."
        finally:
            running.terminate()
