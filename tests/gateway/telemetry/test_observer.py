"""One log line per request, which tells what happened and never what was said."""

import asyncio
import io
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.pipeline import Pipeline
from gateway.planning.catalog import Catalog
from gateway.telemetry.logging import JsonFormatter, request_id
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.observer import Observer
from tests.support.planned import WEATHER, asked, hermes_call, scripted


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What the gateway logs, at every level."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("gateway")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield out
    logger.removeHandler(handler)
    logger.setLevel(before)


def run(folder: Path, turn: str, **fields: Any) -> None:
    pipeline = Pipeline(Catalog([scripted(folder, turn)]), Observer(Metrics()))

    async def walk() -> None:
        request_id.set("req_7")
        async with pipeline.open(asked("a secret question", tools=(WEATHER,), **fields)) as turn:
            async for _ in turn:
                pass

    asyncio.run(walk())


def test_a_request_gives_one_line(tmp_path: Path, lines: io.StringIO) -> None:
    run(tmp_path, "Well.\n" + hermes_call(arguments={"city": "Atlantis"}))
    (line,) = [json.loads(text) for text in lines.getvalue().splitlines()]
    expected = {
        "level": "info",
        "request_id": "req_7",
        "model": "scripted",
        "format": "hermes",
        "backend": "replay",
        "tool_choice": "auto",
        "tools": 1,
        "status": 200,
        "calls": 1,
    }
    assert expected.items() <= line.items()
    assert line["ms"] >= line["first_event_ms"] >= 0
    assert line["prompt_tokens"] > 0


def test_no_line_quotes_prompt_or_arguments(tmp_path: Path, lines: io.StringIO) -> None:
    with pytest.raises(Exception, match="breaks"):
        run(tmp_path, hermes_call(arguments={"city": "Atlantis", "unit": "Kelvin"}), choice="required")
    assert len(lines.getvalue().splitlines()) == 2
    assert "tool_call_invalid" in lines.getvalue()
    for word in ("secret", "Atlantis", "Kelvin"):
        assert word not in lines.getvalue()


def test_generations_are_measured_under_standard_names(tmp_path: Path) -> None:
    metrics = Metrics()
    pipeline = Pipeline(Catalog([scripted(tmp_path, hermes_call(arguments={"city": 7}))]), Observer(metrics))

    async def walk(**fields: Any) -> None:
        async with pipeline.open(asked(tools=(WEATHER,), **fields)) as turn:
            async for _ in turn:
                pass

    asyncio.run(walk())
    with pytest.raises(Exception, match="breaks"):
        asyncio.run(walk(choice="required"))

    def counted(name: str, **labels: str) -> float | None:
        generation = {"gen_ai_operation_name": "chat", "gen_ai_provider_name": "replay", "gen_ai_request_model": "scripted"}
        return metrics.registry.get_sample_value(f"gen_ai_{name}", {**generation, **labels})

    assert counted("server_request_duration_seconds_count", error_type="") == 1
    assert counted("server_request_duration_seconds_count", error_type="tool_call_invalid") == 1
    assert counted("server_time_to_first_token_seconds_count") == 1, "of good ends only"
    assert counted("server_time_per_output_token_seconds_count") == 1
    assert counted("client_token_usage_count", gen_ai_token_type="input") == 1, (
        "the engine had not told when the turn was refused"
    )
    output = counted("client_token_usage_sum", gen_ai_token_type="output")
    assert output == metrics.registry.get_sample_value("toolwire_tokens_total", {"model": "scripted", "kind": "completion"})
    assert output


def test_a_blocked_event_loop_is_seen() -> None:
    metrics = Metrics()

    async def block() -> None:
        watch = asyncio.create_task(metrics.loop_lag.watch())
        await asyncio.sleep(0.01)
        time.sleep(0.6)  # noqa: ASYNC251
        await asyncio.sleep(0.01)
        watch.cancel()

    assert metrics.registry.get_sample_value("toolwire_event_loop_lag_seconds") == 0
    asyncio.run(block())
    lag = metrics.registry.get_sample_value("toolwire_event_loop_lag_seconds")
    assert lag is not None
    assert 0.3 < lag < 5
