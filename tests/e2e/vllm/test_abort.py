"""A client that goes away costs nothing more: within a second the engine has no running request."""

import http.client
import json
import re
import time
import urllib.request
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

PATIENCE = 1.0
ATTEMPTS = 3
"""A machine with much else to do may keep any of the parts waiting for longer."""


def running(engine: str) -> int:
    """Requests that the engine says it is generating or about to."""
    with urllib.request.urlopen(f"{engine}/metrics", timeout=60) as response:
        text = response.read().decode()
    counts = re.findall(r"^vllm:num_requests_(?:running|waiting)\{[^}]*\} ([0-9.]+)$", text, re.MULTILINE)
    assert counts, "the engine no longer reports its requests under this name"
    return sum(int(float(count)) for count in counts)


def seconds_until(condition: Callable[[], bool], patience: float) -> float:
    """How long it took; more than `patience` when it never came."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > patience:
            break
        time.sleep(0.02)
    return time.monotonic() - began


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_a_client_that_goes_away_frees_the_engine(random_engine: str, random_gateway: str, stream: bool) -> None:
    spent = [left_and_idle(random_engine, random_gateway, stream=stream)]
    while spent[-1] >= PATIENCE and len(spent) < ATTEMPTS:
        spent.append(left_and_idle(random_engine, random_gateway, stream=stream))
    assert spent[-1] < PATIENCE, f"the engine went on for {spent} s"


def left_and_idle(engine: str, gateway: str, *, stream: bool) -> float:
    """Seconds from a client's going away until the engine has nothing to do."""
    assert seconds_until(lambda: running(engine) == 0, 120) < 120
    where = urlsplit(gateway)
    body = {
        "model": "random-hermes",
        "messages": [{"role": "user", "content": "Talk for a long time."}],
        "max_completion_tokens": 7000,
        "stream": stream,
        "ignore_eos": True,
    }
    connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=60)
    connection.request("POST", f"{where.path}/chat/completions", json.dumps(body), {"content-type": "application/json"})
    if stream:
        response = connection.getresponse()
        assert response.status == 200
        assert response.read(200)
    assert seconds_until(lambda: running(engine) == 1, 60) < 60, "the request never reached the engine"
    connection.close()
    if stream:
        response.close()
    return seconds_until(lambda: running(engine) == 0, 10)
