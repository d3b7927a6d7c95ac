"""Two real engines behind one model: what is found about how they were started, and what clients see when one is killed."""

import json
import os
import signal
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx
import pytest

from tests.e2e.vllm import servers
from tests.e2e.vllm.families import entry, thoughtless

AUTO = '--structured-outputs-config={"backend": "auto"}'
STREAMS = 12
"""So many at once that both replicas get some, whatever conversations they are."""
LONG = 1000
"""Tokens of a stream that lasts until all the others have begun, also on a machine that has much else to do."""


@pytest.fixture(scope="module")
def second(logs: Path) -> Iterator[tuple[str, Any]]:
    """Another engine, which does not name what compiles constraints."""
    with servers.vllm_process("random", logs, [AUTO]) as (url, process):
        yield url, process


def ready(gateway: str) -> Any:
    with urllib.request.urlopen(f"{gateway}/ready", timeout=10) as response:
        return json.load(response)


def pooled(urls: list[str], logs: Path) -> dict[str, Any]:
    """An entry of these replicas."""
    one = thoughtless(entry("random", urls[0], "hermes"), logs)
    return {**one, "name": "m", "urls": urls, "pool": {"health": {"interval": 1}}}


def talk(gateway: str, number: int, tokens: int, begun: Callable[[], None] = lambda: None) -> str:
    """How a stream of so many tokens ends; `begun` is called when some of it has come."""
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": f"Talk for a while about {number}."}],
        "max_completion_tokens": tokens,
        "stream": True,
        "ignore_eos": True,
    }
    text = ""
    with httpx.stream("POST", f"{gateway}/v1/chat/completions", json=body, timeout=300) as answer:
        assert answer.status_code == 200
        for block in answer.iter_text():
            if not text:
                begun()
            text += block
    return "told" if '"error":' in text else "whole" if "data: [DONE]" in text else "cut"


def test_a_killed_engine_costs_only_what_it_had_begun(random_engine: str, second: tuple[str, Any], logs: Path) -> None:
    other, process = second
    with servers.gateway_serving([pooled([random_engine, other], logs)], logs) as gateway:
        first_replica, other_replica = ready(gateway)["replicas"]["m"]
        assert (first_replica["state"], other_replica["state"]) == ("ready", "ready")
        assert first_replica["warnings"] == []
        (warning,) = other_replica["warnings"]
        assert "not named" in warning
        assert "--structured-outputs-config" in warning
        begun = SimpleQueue[None]()
        with ThreadPoolExecutor(STREAMS) as pool:
            streams = [pool.submit(talk, gateway, number, LONG, lambda: begun.put(None)) for number in range(STREAMS)]
            for _ in streams:
                begun.get(timeout=120)
            os.killpg(process.pid, signal.SIGKILL)
            outcomes = [stream.result(300) for stream in streams]
        assert set(outcomes) == {"whole", "told"}, outcomes
        assert [talk(gateway, number, 50) for number in range(4)] == ["whole"] * 4
        assert ready(gateway)["replicas"]["m"][1]["state"] != "ready"


def test_a_reasoning_parser_is_found(logs: Path) -> None:
    with servers.vllm_serving("random", logs, ["--reasoning-parser=qwen3"]) as url:
        with servers.gateway_serving([pooled([url], logs)], logs) as gateway:
            (replica,) = ready(gateway)["replicas"]["m"]
        (warning,) = replica["warnings"]
        assert "Constraints are not kept" in warning
        assert "without --reasoning-parser" in warning
