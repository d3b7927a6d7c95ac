"""What a key may use, as the official clients see it; and what happens when Redis goes away."""

import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest

from tests.support.keys import guarded, issue
from tests.support.redis import MISSING, PROGRAM, redis_server
from tests.support.server import CLIENT, PATIENCE, Gateway, wait_for

HI: Any = [{"role": "user", "content": "hi"}]
BODY = {"model": "scripted", "messages": HI}
SLOW = {"model": "scripted", "messages": [{"role": "user", "content": "slow"}], "stream": True}
DURATION = re.compile(r"\d+ms|\d+(\.\d+)?s|\d+m\d+s")
needs_redis = pytest.mark.skipif(PROGRAM is None, reason=MISSING)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("limits")


@pytest.fixture(scope="module")
def keys(folder: Path) -> dict[str, str]:
    limits: dict[str, dict[str, int]] = {
        "requests": {"requests_per_minute": 2},
        "claude": {"requests_per_minute": 1},
        "tokens": {"tokens_per_minute": 5},
        "one": {"concurrent_requests": 1},
    }
    return {name: issue(folder / "keys.jsonl", name, limits=limit) for name, limit in limits.items()}


@pytest.fixture(scope="module")
def gateway(folder: Path, keys: dict[str, str]) -> Iterator[Gateway]:
    with guarded(folder) as running:
        yield running


def post(gateway: Gateway, key: str, body: Any = BODY) -> httpx.Response:
    return gateway.post(body, headers={"authorization": f"Bearer {key}"})


def test_requests_per_minute(gateway: Gateway, keys: dict[str, str]) -> None:
    with openai.OpenAI(base_url=gateway.base_url, api_key=keys["requests"], max_retries=0) as client:
        for left in (1, 0):
            answer = client.chat.completions.with_raw_response.create(model="scripted", messages=HI, stream=left == 0)
            assert answer.headers["x-ratelimit-limit-requests"] == "2"
            assert answer.headers["x-ratelimit-remaining-requests"] == str(left)
            assert DURATION.fullmatch(answer.headers["x-ratelimit-reset-requests"])
            assert "x-ratelimit-limit-tokens" not in answer.headers
            answer.http_response.read()
        with pytest.raises(openai.RateLimitError) as refused:
            client.chat.completions.create(model="scripted", messages=HI)
        assert (refused.value.code, refused.value.type) == ("rate_limit_exceeded", "requests")
        assert 1 <= int(refused.value.response.headers["retry-after"]) <= 61
        assert refused.value.response.headers["x-ratelimit-remaining-requests"] == "0"
        with pytest.raises(openai.RateLimitError):
            client.responses.create(model="scripted", input="hi")
        assert [model.id for model in client.models.list()]  # looking is free
    limited = gateway.app.house.metrics.limited.labels("requests")
    assert limited.value == 2


def test_anthropics_client(gateway: Gateway, keys: dict[str, str]) -> None:
    with anthropic.Anthropic(base_url=gateway.url, api_key=keys["claude"], max_retries=0) as client:
        assert client.messages.count_tokens(model="scripted", messages=HI).input_tokens > 0
        with pytest.raises(anthropic.RateLimitError) as refused:
            client.messages.create(model="scripted", max_tokens=9, messages=HI)
        told: Any = refused.value.body
        headers = refused.value.response.headers
        assert told["error"]["type"] == "rate_limit_error"
        assert int(headers["retry-after"]) >= 1
        standing = [headers[f"anthropic-ratelimit-requests-{what}"] for what in ("limit", "remaining")]
        assert standing == ["1", "0"]
        reset = datetime.fromisoformat(headers["anthropic-ratelimit-requests-reset"])
        assert 0 <= (reset - datetime.now(UTC)).total_seconds() <= 62
        assert "anthropic-ratelimit-tokens-limit" not in headers


def test_tokens_per_minute(gateway: Gateway, keys: dict[str, str]) -> None:
    first = post(gateway, keys["tokens"])
    told = [first.headers[name] for name in ("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens")]
    assert told == ["5", "0"], "alone it is let in, though it may take more than there is"
    assert first.headers["anthropic-ratelimit-tokens-remaining"] == "0"
    assert first.json()["usage"]["total_tokens"] >= 5
    with openai.OpenAI(base_url=gateway.base_url, api_key=keys["tokens"], max_retries=0) as client:
        with pytest.raises(openai.RateLimitError) as refused:
            client.chat.completions.create(model="scripted", messages=HI)
        assert (refused.value.code, refused.value.type) == ("rate_limit_exceeded", "tokens")
        assert "tokens per minute" in refused.value.message


def test_concurrent_requests(gateway: Gateway, keys: dict[str, str]) -> None:
    """One that runs keeps the next one out; a client that goes away makes room."""
    with CLIENT.stream("POST", f"{gateway.base_url}/chat/completions", json=SLOW, headers={"x-api-key": keys["one"]}) as running:
        assert running.status_code == 200
        refused = post(gateway, keys["one"])
        assert refused.status_code == 429
        assert "at once" in refused.json()["error"]["message"]
        assert refused.headers["retry-after"] == "1"
    assert wait_for(lambda: post(gateway, keys["one"]).status_code == 200)
    for _ in range(10):
        assert post(gateway, keys["one"]).status_code == 200


@needs_redis
def test_two_gateways_share_keys_and_limits(tmp_path: Path) -> None:
    secret = issue(tmp_path / "keys.jsonl", "shared", limits={"requests_per_minute": 10})
    running_key = issue(tmp_path / "keys.jsonl", "running", limits={"concurrent_requests": 3})
    with redis_server() as url:
        store = {"kind": "redis", "url": url}
        with guarded(tmp_path, store=store) as one, guarded(tmp_path, store=store) as other:
            with ThreadPoolExecutor(8) as pool:
                statuses = list(pool.map(lambda n: post((one, other)[n % 2], secret).status_code, range(30)))
            assert sorted(statuses) == [200] * 10 + [429] * 20

            together, decided = threading.Barrier(6), threading.Barrier(6)

            def begin(number: int) -> int:
                together.wait(PATIENCE)
                address = (one, other)[number % 2].base_url
                key = {"x-api-key": running_key}
                with CLIENT.stream("POST", f"{address}/chat/completions", json=SLOW, headers=key) as answer:
                    decided.wait(PATIENCE)
                    return answer.status_code

            with ThreadPoolExecutor(6) as pool:
                assert sorted(pool.map(begin, range(6))) == [200] * 3 + [429] * 3
            assert wait_for(lambda: post(one, running_key).status_code == 200)


@needs_redis
@pytest.mark.parametrize(("policy", "meanwhile"), [("allow", [200, 200, 429]), ("deny", [503, 503, 503])])
def test_redis_goes_away_and_comes_back(tmp_path: Path, policy: str, meanwhile: list[int]) -> None:
    secret = issue(tmp_path / "keys.jsonl", "key", limits={"requests_per_minute": 2})
    with redis_server() as url:
        port = int(url.split(":")[2].split("/")[0])
        running = guarded(tmp_path, store={"kind": "redis", "url": url}, auth={"on_store_failure": policy})
        gateway = running.__enter__()
        assert post(gateway, secret).status_code == 200
    try:
        began = time.monotonic()
        assert [post(gateway, secret).status_code for _ in range(3)] == meanwhile
        assert time.monotonic() - began < 20
        assert gateway.app.house.metrics.uncounted.value == 3
        with redis_server(port):
            time.sleep(1.1)
            assert [post(gateway, secret).status_code for _ in range(3)] == [200, 200, 429]
            assert gateway.app.house.metrics.uncounted.value == 3
    finally:
        running.__exit__(None, None, None)


@needs_redis
@pytest.mark.parametrize(("policy", "known"), [("allow", 200), ("deny", 503)])
def test_keys_in_redis(tmp_path: Path, policy: str, known: int) -> None:
    """While it is away, a key that was seen before is good or not as the policy says; one that was not never is."""
    import asyncio

    from gateway.settings import ApiKey, hash_of, new_secret
    from gateway.store import RedisKeyring

    seen, revoked = new_secret(), new_secret()

    async def issue_both(url: str) -> None:
        ring = RedisKeyring(url, prefix="toolwire")
        await ring.add(ApiKey(name="seen", hash=hash_of(seen)))
        await ring.add(ApiKey(name="revoked", hash=hash_of(revoked)))
        await ring.remove("revoked")
        await ring.close()

    with redis_server() as url:
        asyncio.run(issue_both(url))
        auth = {"keys_file": None, "keys_in_redis": True, "on_store_failure": policy}
        running = guarded(tmp_path, store={"kind": "redis", "url": url}, auth=auth)
        gateway = running.__enter__()
        assert [post(gateway, key).status_code for key in (seen, revoked)] == [200, 401]
    try:
        time.sleep(1.1)
        assert [post(gateway, key).status_code for key in (seen, revoked)] == [known, 503]
    finally:
        running.__exit__(None, None, None)
