"""What deploy/ says fits the gateway: configurations it takes, metrics it has, times that agree."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from gateway.settings import Settings
from gateway.telemetry.metrics import Metrics

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
BASE = DEPLOY / "kubernetes" / "base"
ELSEWHERE = {"up"}
"""Metrics that Prometheus itself makes."""
VARIABLES = {"$model": "any", "$__rate_interval": "5m"}
ADDED_BY_SCRAPING = {"instance", "job", "pod", "namespace"}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def read_all(path: Path) -> list[Any]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def queries() -> list[tuple[str, str]]:
    """Every query of the alerts and the dashboard, with its place."""
    rules = [rule for group in read(DEPLOY / "prometheus" / "alerts.yml")["groups"] for rule in group["rules"]]
    found = [(rule["alert"], rule["expr"]) for rule in rules]
    board = json.loads((DEPLOY / "grafana" / "toolwire.json").read_text(encoding="utf-8"))
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            query = target["expr"]
            for name, value in VARIABLES.items():
                query = query.replace(name, value)
            found.append((f"{panel['title']}: {target['legendFormat']}", query))
    return found


def selectors(node: Any) -> Iterator[Any]:
    """Every metric that a query reads."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node
    for name in ("lhs", "rhs", "expr", "vector_selector", "param"):
        if (child := getattr(node, name, None)) is not None and not isinstance(child, (str, int, float)):
            yield from selectors(child)
    for argument in getattr(node, "args", None) or ():
        yield from selectors(argument)


def known() -> dict[str, set[str]]:
    """Each series of the gateway, with its labels."""
    found: dict[str, set[str]] = {}
    for collector in Metrics().registry._collector_to_names:
        for family in getattr(collector, "describe", tuple)():
            name, labels = family.name, set(getattr(collector, "_labelnames", getattr(family, "_labelnames", ())))
            if family.type == "histogram":
                found |= {f"{name}_bucket": labels | {"le"}, f"{name}_sum": labels, f"{name}_count": labels}
            else:
                found[f"{name}_total" if family.type == "counter" else name] = labels
    return found


@pytest.mark.parametrize(("place", "query"), queries(), ids=[place for place, _ in queries()])
def test_queries_read_what_the_gateway_tells(place: str, query: str) -> None:
    series = known()
    read_by_it = list(selectors(promql_parser.parse(query)))
    assert read_by_it, place
    for selector in read_by_it:
        if selector.name in ELSEWHERE:
            continue
        assert selector.name in series, place
        told = series[selector.name] | ADDED_BY_SCRAPING
        assert {matcher.name for matcher in selector.matchers.matchers} <= told, place
        for grouped in re.findall(r"by \(([^)]*)\)", query):
            assert set(grouped.split(", ")) <= set().union(*series.values()) | ADDED_BY_SCRAPING, place


def test_the_dashboard_is_what_its_program_writes() -> None:
    made = subprocess.run([sys.executable, DEPLOY / "grafana" / "dashboard.py"], capture_output=True, text=True, check=True)
    assert made.stdout == (DEPLOY / "grafana" / "toolwire.json").read_text(encoding="utf-8")


def test_alerts_say_what_to_look_at() -> None:
    for group in read(DEPLOY / "prometheus" / "alerts.yml")["groups"]:
        for rule in group["rules"]:
            assert {"summary", "action"} <= rule["annotations"].keys()
            assert rule["labels"]["severity"] in ("critical", "warning", "info")


@pytest.mark.parametrize("path", [DEPLOY / "toolwire.vllm.yaml", BASE / "toolwire.yaml"], ids=lambda path: path.name)
def test_configurations_are_taken(path: Path) -> None:
    raw = read(path)
    raw.setdefault("store", {}).setdefault("url", "redis://redis:6379/0")  # both get it from their environment
    Settings.model_validate(raw)


def test_a_gateway_listens_for_others_in_containers_only() -> None:
    """There something else decides who can connect."""
    assert Settings.model_validate(read(DEPLOY / "toolwire.vllm.yaml")).server.host == "127.0.0.1", "also used by the unit"
    assert "TOOLWIRE_SERVER__HOST=0.0.0.0" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert read(BASE / "toolwire.yaml")["server"]["host"] == "0.0.0.0"


@pytest.mark.parametrize(
    "command",
    [
        read(ROOT / "docker-compose.yml")["services"]["redis"]["command"],
        read_all(DEPLOY / "kubernetes/example/redis.yaml")[0]["spec"]["template"]["spec"]["containers"][0]["args"],
    ],
    ids=["compose", "kubernetes"],
)
def test_redis_keeps_what_it_is_told(command: list[str]) -> None:
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert options["--appendonly"] == "yes"
    assert options["--maxmemory-policy"] == "noeviction"


def test_what_runs_in_a_pod_by_hand_finds_the_configuration() -> None:
    """`kubectl exec deploy/toolwire -- toolwire keys create NAME`."""
    pod = read(BASE / "deployment.yaml")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    named = {one["name"]: one.get("value") for one in container["env"]}["TOOLWIRE_CONFIG"]
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    assert named == f"{mounts['configuration']}/toolwire.yaml"


def test_how_many_gateways_there_are_only_the_autoscaler_says() -> None:
    assert "replicas" not in read(BASE / "deployment.yaml")["spec"]
    assert read(BASE / "autoscaler.yaml")["spec"]["minReplicas"] >= 2


def test_the_autoscaler_follows_a_metric_that_there_is() -> None:
    (name,) = [
        one["pods"]["metric"]["name"] for one in read(BASE / "autoscaler.yaml")["spec"]["metrics"] if one["type"] == "Pods"
    ]
    (rule,) = read(DEPLOY / "kubernetes/prometheus-adapter.yaml")["rules"]["custom"]
    assert name in known()
    assert rule["name"]["as"] == name
    assert rule["seriesQuery"].startswith(f"{name}{{")


def test_probes_and_ports_are_those_of_the_gateway() -> None:
    (container,) = read(BASE / "deployment.yaml")["spec"]["template"]["spec"]["containers"]
    (port,) = container["ports"]
    assert port["containerPort"] == Settings().server.port
    probes = {probe: container[f"{probe}Probe"]["httpGet"] for probe in ("startup", "liveness", "readiness")}
    assert {one["port"] for one in probes.values()} == {port["name"]}
    assert {name: one["path"] for name, one in probes.items()} == {
        "startup": "/health",
        "liveness": "/health",
        "readiness": "/ready",
    }, "a gateway without engines is well, and not ready"
    assert [one["targetPort"] for one in read(BASE / "service.yaml")["spec"]["ports"]] == [port["name"]]
    assert read(BASE / "network.yaml")["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": port["name"]}]


def test_what_a_pod_writes_has_a_place() -> None:
    """Its own file system cannot be written to."""
    (container,) = read(BASE / "deployment.yaml")["spec"]["template"]["spec"]["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    places = {one["mountPath"] for one in container["volumeMounts"] if not one.get("readOnly")}
    home = {one["name"]: one.get("value") for one in container["env"]}["HF_HOME"]
    assert "/tmp" in places
    assert str(Path(home).parent) in places


def test_engines_and_redis_take_connections_of_gateways_only() -> None:
    (gateways,) = [
        one["from"][0]["podSelector"] for one in read_all(DEPLOY / "kubernetes/example/network.yaml")[0]["spec"]["ingress"]
    ]
    assert gateways["matchLabels"] == read(BASE / "deployment.yaml")["spec"]["template"]["metadata"]["labels"]
    closed = {
        policy["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/name"]
        for policy in read_all(DEPLOY / "kubernetes/example/network.yaml")
    }
    assert closed == {"vllm", "redis"}


def test_every_model_of_the_cluster_has_a_replica_that_is_there() -> None:
    engines = next(
        one for one in yaml.safe_load_all((DEPLOY / "kubernetes/example/vllm.yaml").read_text()) if one["kind"] == "StatefulSet"
    )
    pods = {f"http://vllm-{number}.vllm:8000" for number in range(engines["spec"]["replicas"])}
    for model in read(BASE / "toolwire.yaml")["models"]:
        assert set(model["urls"]) == pods


def test_a_pod_has_time_for_its_running_answers() -> None:
    pod = read(BASE / "deployment.yaml")["spec"]["template"]["spec"]
    pause = int(pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > read(BASE / "toolwire.yaml")["server"]["drain"] + pause


def test_a_container_and_a_unit_have_time_for_their_running_answers() -> None:
    drain = Settings().server.drain
    gateway = read(ROOT / "docker-compose.yml")["services"]["gateway"]
    assert int(gateway["stop_grace_period"].removesuffix("s")) > drain
    unit = (DEPLOY / "toolwire.service").read_text(encoding="utf-8")
    stop = re.search(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    assert stop is not None
    assert int(stop.group(1)) > drain


@pytest.mark.parametrize("place", ["docker-compose.yml", "deploy/kubernetes/example/vllm.yaml"])
def test_engines_are_started_as_the_gateway_needs_them(place: str) -> None:
    text = (ROOT / place).read_text(encoding="utf-8")
    assert '--structured-outputs-config={"backend":"xgrammar"}' in text
    assert not re.search(r"^\s*- --reasoning-parser", text, re.MULTILINE)


@pytest.mark.parametrize("service", ["gateway", "cpu"])
def test_containers_may_do_no_more_than_they_must(service: str) -> None:
    settings = read(ROOT / "docker-compose.yml")["services"][service]
    assert settings["read_only"] is True
    assert settings["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in settings["ports"])


def test_everything_that_the_image_is_made_of_is_sent_to_its_builder() -> None:
    let_through = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")]
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    sources = [source.removesuffix("/") for copy in copies for source in copy.split()]
    assert sources
    assert [source for source in sources if source not in let_through] == []
