"""Budgets of tokens, counted by two gateways in processes of their own on one real Redis, which is killed in the middle."""

import asyncio
import re
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
from tests.support.redis import MISSING, PROGRAM, redis_server
from tests.support.server import CLIENT, replay_model, wait_for

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
                left = ask(addresses[0], secret).headers
                assert left["x-ratelimit-remaining-tokens-day"] == str(100_000 - used)
                assert left["x-ratelimit-remaining-tokens-month"] == str(1_000_000 - used)


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
        assert gateway.app.house.metrics.limited.labels("day")._value.get() == 1
