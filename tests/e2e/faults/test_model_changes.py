"""Engines that are started again with another model: told with the remedy, and served once they fit. No gateway is restarted."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.faults.clients import ask, begun, ended, outcomes
from tests.e2e.faults.conftest import QUICK
from tests.support.engines import EngineProcess, engine_processes
from tests.support.process import GatewayProcess, gateway_process
from tests.support.server import CLIENT, wait_for
from tests.support.tokenizers import byte_level


@contextmanager
def site(folder: Path, **entry: Any) -> Iterator[tuple[GatewayProcess, list[EngineProcess]]]:
    """A gateway that learns from its two engines what they serve."""
    root = str(byte_level(folder / "first"))
    with engine_processes(2, model="first", root=root, max_model_len=4000) as engines:
        urls = [engine.url for engine in engines]
        model = {"name": "m", "backend": "vllm", "urls": urls, "chat_template": "toolwire/hermes", "pool": QUICK, **entry}
        with gateway_process(folder, {"models": [model]}) as gateway:
            yield gateway, engines


def restart(engine: EngineProcess, **changes: Any) -> None:
    engine.kill()
    engine.start(**changes)


def states(gateway: GatewayProcess) -> list[str]:
    return [one["state"] for one in gateway.ready().json()["replicas"]["m"]]


def served(gateway: GatewayProcess) -> tuple[str, int] | None:
    """What the engines call the model, and its context; None while it is not served."""
    listed = CLIENT.get(f"{gateway.url}/v1/models").json()["data"]
    return (listed[0]["root"], listed[0]["max_model_len"]) if listed else None


def room(engine: EngineProcess) -> int:
    """Tokens of prompt and answer of the last request."""
    body = engine.told().bodies[-1]
    return int(body["prompt"] + body["max_tokens"])


def test_all_engines_change_their_model_one_after_the_other(tmp_path: Path) -> None:
    """Until the last one has, the others are used."""
    other = {"model": "second", "root": str(byte_level(tmp_path / "second")), "max_model_len": 2500}
    with site(tmp_path) as (gateway, (one, two)):
        assert served(gateway) == ("first", 4000)
        restart(one, **other)
        assert wait_for(lambda: "it serves second, not first: correct engine_model" in states(gateway)[0])
        assert outcomes([ask(gateway.url, text=str(number)) for number in range(6)]) == {"whole": 6}
        assert two.told().asked == 6
        assert served(gateway) == ("first", 4000)
        assert gateway.metric("toolwire_replica_ejections_total", cause="other_model", replica=one.url) == 1
        restart(two, **other)
        assert wait_for(lambda: served(gateway) == ("second", 2500))
        assert wait_for(lambda: states(gateway) == ["ready", "ready"])
        assert outcomes([ask(gateway.url, text=str(number)) for number in range(6)]) == {"whole": 6}
        assert {room(engine) for engine in (one, two) if engine.told().asked} == {2500}
        assert gateway.metric("toolwire_model_changes_total", model="m", outcome="served") == 1
        assert gateway.metric("toolwire_replica_up") == 2
        assert "its engines serve second now, with a context of 2500" in gateway.log.read_text()


def test_more_context_is_used_and_what_runs_goes_on(tmp_path: Path) -> None:
    with site(tmp_path) as (gateway, engines):
        for engine in engines:
            engine.play(pieces=["word "] * 30, delay=0.1)
        (running,) = begun([lambda: ask(gateway.url)])
        assert wait_for(lambda: sum(engine.running() for engine in engines) == 1)
        for engine in engines:
            engine.play(max_model_len=8000)
        assert wait_for(lambda: served(gateway) == ("first", 8000))
        assert outcomes(ended([running])) == {"whole": 1}
        for engine in engines:
            engine.play(delay=0)
        assert outcomes([ask(gateway.url)]) == {"whole": 1}
        assert 8000 in {room(engine) for engine in engines if engine.told().asked}


def test_a_model_that_the_entry_names_is_waited_for(tmp_path: Path) -> None:
    with site(tmp_path, engine_model="first") as (gateway, engines):
        for engine in engines:
            restart(engine, model="second")
        assert wait_for(lambda: all("it serves second, not first" in state for state in states(gateway)))
        assert gateway.ready().status_code == 503
        restart(engines[1], model="first")
        assert wait_for(lambda: gateway.ready().status_code == 200)
        assert outcomes([ask(gateway.url)]) == {"whole": 1}
        assert gateway.metric("toolwire_model_changes_total") == 0


def test_a_model_that_cannot_be_served_is_told_until_one_can(tmp_path: Path) -> None:
    """Here one without a tokenizer. That the old one comes back is as good as another."""
    first = str(byte_level(tmp_path / "first"))
    with site(tmp_path) as (gateway, engines):
        for engine in engines:
            restart(engine, root="/no/such/folder")
        assert wait_for(lambda: "/no/such/folder" in gateway.ready().json()["models"]["m"])
        refused = ask(gateway.url)
        assert (refused.status, "There is no tokenizer folder" in refused.text) == (503, True)
        assert gateway.metric("toolwire_model_changes_total", outcome="refused") >= 1
        assert gateway.metric("toolwire_replica_up") == 0
        for engine in engines:
            restart(engine, root=first)
        assert wait_for(lambda: gateway.ready().status_code == 200)
        assert outcomes([ask(gateway.url)]) == {"whole": 1}
