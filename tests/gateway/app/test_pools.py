"""What is told of a model's replicas: by `toolwire check`, in `/ready` and in the metrics."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.app.assembly import check_entry
from gateway.errors import BackendUnavailable
from gateway.settings import VllmModel
from tests.support.engine import playing
from tests.support.engines import engine_processes
from tests.support.server import CLIENT, serving, wait_for
from tests.support.tokenizers import byte_level

NOBODY = "http://127.0.0.1:9"


def entry(urls: list[str], **more: Any) -> dict[str, Any]:
    return {"name": "m", "backend": "vllm", "urls": urls, "chat_template": "toolwire/hermes", **more}


def checks(folder: Path, *urls: str, **script: Any) -> dict[str, tuple[str, str]]:
    """What a check says of an engine with this script and of those at these addresses: status and message by id and place."""
    tokenizer = str(byte_level(folder / "tokenizer"))

    async def ask() -> Any:
        async with playing(**script) as (_, url):
            model = VllmModel.model_validate(entry([url, *urls], tokenizer=tokenizer))
            return url, await check_entry(model)

    url, report = asyncio.run(ask())
    found = {}
    for each in report.checks:
        if each.id.startswith("E"):
            place, _, message = each.message.partition(": ")
            found[f"{each.id} {'engine' if place == url else place}"] = (each.status, message)
    return found


def test_a_check_asks_the_engines(tmp_path: Path) -> None:
    assert {key: status for key, (status, _) in checks(tmp_path).items()} == {"E001 engine": "pass", "E002 engine": "pass"}
    found = checks(tmp_path, NOBODY, constraints="no_tags")
    assert found["E002 engine"][0] == "fail"
    assert found[f"E000 {NOBODY}"][0] == "warn"
    assert "cannot be reached" in found[f"E000 {NOBODY}"][1]


def test_a_check_needs_no_engine_where_the_tokenizer_is_named(tmp_path: Path) -> None:
    tokenizer = str(byte_level(tmp_path / "tokenizer"))
    report = asyncio.run(check_entry(VllmModel.model_validate(entry([NOBODY], tokenizer=tokenizer))))
    assert [each.status for each in report.checks if each.id == "E000"] == ["warn"]
    with pytest.raises(BackendUnavailable):
        asyncio.run(check_entry(VllmModel.model_validate(entry([NOBODY]))))


def test_ready_tells_of_each_replica(tmp_path: Path) -> None:
    with engine_processes(1, root=str(byte_level(tmp_path / "tokenizer")), constraints="unnamed") as (engine,):
        model = entry([engine.url, NOBODY], pool={"health": {"interval": 0.2}})
        with serving({"models": [model]}) as gateway:
            told = CLIENT.get(f"{gateway.url}/ready").json()
            first, second = told["replicas"]["m"]
            assert (told["status"], told["models"]) == ("ready", {"m": "ready"})
            assert (first["url"], first["state"], first["running"], first["version"]) == (engine.url, "ready", 0, "0.32.0")
            assert "--structured-outputs-config" in first["warnings"][0]
            assert "not" in second["state"], "it cannot be reached, or does not answer"
            numbers = CLIENT.get(f"{gateway.url}/metrics").text
            assert f'toolwire_replica_up{{model="m",replica="{engine.url}"}} 1.0' in numbers
            assert f'toolwire_replica_up{{model="m",replica="{NOBODY}"}} 0.0' in numbers
            assert gateway.post({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).status_code == 200
            engine.kill()
            assert wait_for(lambda: CLIENT.get(f"{gateway.url}/ready").status_code == 503)
            gone = CLIENT.get(f"{gateway.url}/ready").json()
            assert gone["models"] == {"m": "its engine does not answer"}
            assert wait_for(lambda: "does not answer /health" in str(CLIENT.get(f"{gateway.url}/ready").json()["replicas"]))
