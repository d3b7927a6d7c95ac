"""Budgets of tokens, counted by two gateways in processes of their own on one real Redis, which is killed in the middle."""

import asyncio
import re
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import yaml

from tests.gateway.cli.test_serve import running
from tests.support.keys import TURNS, guarded, issue
from tests.support.process import gateway_process
from tests.support.redis import MISSING, PROGRAM, redis_server
from tests.support.server import CLIENT, PATIENCE, replay_model, wait_for

needs_redis = pytest.mark.skipif(PROGRAM is None, reason=MISSING)
BODY: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}


@contextmanager
def two_gateways(folder: Path, redis: str) -> Iterator[list[str]]:
    """The addresses of two processes."""
    settings = {
        "models": [replay_model(folder, TURNS)],
        "auth": {"keys_file": str(folder / "keys.jsonl")},
        "store": {"kind": "redis", "url": redis},
    }
    config = folder / "toolwire.yaml"
    config.write_text(yaml.safe_dump(settings), encoding="utf-8")
    with ExitStack() as stack:
        found: list[str] = []
        for _ in range(2):
            _, lines = stack.enter_context(running("--config", str(config), "--log-level", "error"))
            found += re.findall(r"http://127\.0\.0\.1:\d+/v1", lines[-1])
        yield found


def ask(address: str, secret: str) -> httpx.Response:
    return CLIENT.post(f"{address}/chat/completions", json=BODY, headers={"authorization": f"Bearer {secret}"})


def counted(url: str, key: str) -> dict[str, int]:
    """What the Redis holds of a key's budgets."""

    async def read() -> dict[str, int]:
        from redis.asyncio import Redis

        async with Redis.from_url(url) as direct:
            found = await direct.hgetall(f"toolwire:limits:{{{key}}}:budgets")
            return {name.decode().partition(":")[0]: int(amount) for name, amount in found.items()}

    return asyncio.run(read())


def reserved(url: str, key: str, *, end: bool = False) -> int:
    """Tokens that the key's running requests have reserved. `end`: all their leases are over, as if a minute had passed."""

    async def read() -> int:
        from redis.asyncio import Redis

        async with Redis.from_url(url) as direct:
            name = f"toolwire:limits:{{{key}}}"
            if end:
                leases = await direct.zrange(f"{name}:running", 0, -1)
                await direct.zadd(f"{name}:running", dict.fromkeys(leases, 1))
            return int(await direct.hget(f"{name}:reserved", ":all") or 0)

    return asyncio.run(read())


SLOW: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": "slow"}], "stream": True}
MOST = 1000
"""`max_tokens` of the slow ones: none comes so far while anybody waits."""


def claim_of(addresses: list[str], secret: str, url: str) -> int:
    """Tokens that one of the slow ones reserves."""
    with streaming(addresses[0], secret) as answer:
        assert answer.status_code == 200
        found = reserved(url, "team")
    assert wait_for(lambda: reserved(url, "team") == 0)
    return found


@contextmanager
def streaming(address: str, secret: str) -> Iterator[httpx.Response]:
    headers = {"authorization": f"Bearer {secret}"}
    with CLIENT.stream("POST", f"{address}/chat/completions", json={**SLOW, "max_tokens": MOST}, headers=headers) as answer:
        yield answer


@needs_redis
def test_requests_that_run_together_do_not_cross_a_budget(tmp_path: Path) -> None:
    """Of twelve that begin at once at two gateways so many run as the budget has room for."""
    file = tmp_path / "keys.jsonl"
    secret = issue(file, "team", limits={"tokens_per_day": 5 * MOST})
    with redis_server() as url, two_gateways(tmp_path, url) as addresses, ThreadPoolExecutor(12) as pool:
        claim = claim_of(addresses, secret, url)
        assert claim > MOST
        before = counted(url, "team").get("day", 0)
        fit = (5 * MOST - before) // claim
        together, decided = threading.Barrier(12), threading.Barrier(12)

        def begin(number: int) -> tuple[int, str, str]:
            together.wait(PATIENCE)
            with streaming(addresses[number % 2], secret) as answer:
                decided.wait(PATIENCE)
                text = "" if answer.status_code == 200 else answer.read().decode()
                return answer.status_code, text, answer.headers["x-should-retry"] if text else ""

        seen = list(pool.map(begin, range(12)))
        assert [status for status, _, _ in seen].count(200) == fit
        assert 0 < fit < 12
        refused = [one for one in seen if one[0] != 200]
        assert {status for status, _, _ in refused} == {429}
        assert all("rate_limit_exceeded" in text and f"Requested {claim}" in text for _, text, _ in refused)
        assert {retry for _, _, retry in refused} == {"true"}
        assert wait_for(lambda: reserved(url, "team") == 0), "those that hung up have given back what they did not use"
        assert counted(url, "team").get("day", 0) <= before + fit * claim
        assert ask(addresses[1], secret).status_code == 200


@needs_redis
def test_what_a_killed_gateway_had_reserved_does_not_stay_reserved(tmp_path: Path) -> None:
    secret = issue(tmp_path / "keys.jsonl", "team", limits={"tokens_per_day": MOST})
    settings = {
        "models": [replay_model(tmp_path, TURNS)],
        "auth": {"keys_file": str(tmp_path / "keys.jsonl")},
    }
    with redis_server() as url:
        settings["store"] = {"kind": "redis", "url": url}
        with gateway_process(tmp_path, settings) as one, gateway_process(tmp_path, settings) as other:
            with streaming(f"{one.url}/v1", secret) as answer:
                assert answer.status_code == 200
                refused = ask(f"{other.url}/v1", secret)
                assert refused.status_code == 429
                assert refused.json()["error"]["code"] == "rate_limit_exceeded"
                one.signal(signal.SIGKILL)
                assert one.ended(PATIENCE) is not None
            assert ask(f"{other.url}/v1", secret).status_code == 429
            assert reserved(url, "team", end=True) > MOST
            assert ask(f"{other.url}/v1", secret).status_code == 200
            assert wait_for(lambda: reserved(url, "team") == 0)


@needs_redis
def test_counts_are_exact_also_over_a_redis_that_dies(tmp_path: Path) -> None:
    secret = issue(tmp_path / "keys.jsonl", "team", limits={"tokens_per_day": 100_000, "tokens_per_month": 1_000_000})
    with ExitStack() as redis, ThreadPoolExecutor(8) as pool:
        url = redis.enter_context(redis_server(folder=tmp_path))
        with two_gateways(tmp_path, url) as addresses:

            def total(count: int) -> int:
                """Tokens of so many requests at both gateways at once, all of which are answered."""
                answers = list(pool.map(lambda number: ask(addresses[number % 2], secret), range(count)))
                assert {answer.status_code for answer in answers} == {200}
                return sum(answer.json()["usage"]["total_tokens"] for answer in answers)

            used = total(60)
            assert wait_for(lambda: counted(url, "team") == {"day": used, "month": used}), (counted(url, "team"), used)
            redis.close()  # it is killed
            used += total(30)
            with redis_server(int(url.split(":")[2].split("/")[0]), folder=tmp_path):

                def told() -> bool:
                    nonlocal used
                    used += total(2)
                    return wait_for(lambda: counted(url, "team") == {"day": used, "month": used}, 2)

                assert wait_for(told), (counted(url, "team"), used)
                told = ask(addresses[0], secret).headers
                day, month = (int(told[f"x-ratelimit-remaining-tokens-{period}"]) for period in ("day", "month"))
                assert month - day == 900_000
                assert 1024 < 100_000 - used - day < 1400, "what this request itself may take is set aside"


def test_a_budget_that_is_used_up_is_told_as_such(tmp_path: Path) -> None:
    secret = issue(tmp_path / "keys.jsonl", "small", limits={"tokens_per_day": 5})
    with guarded(tmp_path) as gateway, openai.OpenAI(base_url=gateway.base_url, api_key=secret) as client:
        assert client.chat.completions.create(**BODY).usage
        with pytest.raises(openai.RateLimitError) as refused:
            client.chat.completions.create(**BODY)
        assert (refused.value.code, refused.value.type) == ("insufficient_quota", "insufficient_quota")
        assert "may use 5 tokens a day (UTC)" in refused.value.message
        told = refused.value.response.headers
        assert told["x-should-retry"] == "false"
        assert told["x-ratelimit-limit-tokens-day"] == "5"
        assert told["x-ratelimit-remaining-tokens-day"] == "0"
        assert 0 < int(told["retry-after"]) <= 86400
        assert gateway.app.house.metrics.limited.labels("day").value == 1
