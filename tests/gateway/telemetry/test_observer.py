"""One log line per request, which tells what happened and never what was said."""

import asyncio
import io
import json
import logging
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gateway.pipeline import Pipeline
from gateway.planning.catalog import Catalog
from gateway.telemetry.logging import JsonFormatter, request_id
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.observer import Observer
from tests.support.planned import WEATHER, asked, hermes_call, scripted
from tests.support.walk import reads_of, walk


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
            await reads_of(turn)

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
            await reads_of(turn)

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
    assert 0.3 < lag < 60


CUT = hermes_call()[:-16]
BROKEN = '<tool_call>\n{"name": "get_weather", "arguments": {"city": x}}\n</tool_call>'
NAMELESS = '<tool_call>\n{"arguments": {"city": "Oslo"}, "nam": 3}\n</tool_call>'
FOREIGN = "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>"


@pytest.mark.parametrize(
    ("turn", "finish", "expected", "notice"),
    [
        (hermes_call(), "stop", {"attempted": 1, "completed": 1}, None),
        (
            hermes_call() + "\n" + hermes_call(arguments={"city": 3}),
            "stop",
            {"attempted": 2, "completed": 2, "schema_invalid": 1},
            None,
        ),
        (hermes_call("launch"), "stop", {"attempted": 1}, "undeclared"),
        (BROKEN, "stop", {"attempted": 1}, "malformed"),
        (NAMELESS, "stop", {"attempted": 1}, "malformed"),
        (f"<tool_call>\n{FOREIGN}\n</tool_call>", "stop", {"attempted": 1}, "dialect"),
        (FOREIGN, "stop", {"attempted": 1}, "dialect"),
        (CUT, "length", {"attempted": 1, "truncated": 1}, "truncated"),
        (CUT[:40], "length", {"attempted": 1, "truncated": 1}, "truncated"),
        ("Hello!", "stop", {}, None),
    ],
)
def test_every_call_that_was_tried_is_counted_once(
    tmp_path: Path, turn: str, finish: str, expected: dict[str, int], notice: str | None
) -> None:
    model = walk(tmp_path, [{"match": None, "text": turn, "finish": finish}])
    model.events(asked(tools=(WEATHER,)))
    names = ("attempted", "completed", "truncated", "refused", "schema_invalid")
    found = {name: model.counted(f"tool_calls_{name}_total", model="scripted", format="hermes") for name in names}
    assert {name: count for name, count in found.items() if count} == expected
    if notice is not None:
        assert model.counted("notices_total", model="scripted", format="hermes", kind=notice) >= 1


def test_a_call_that_was_cut_because_only_one_was_asked_for_is_no_truncated_one(tmp_path: Path) -> None:
    model = walk(tmp_path, hermes_call() + "\n" + hermes_call())
    model.events(asked(tools=(WEATHER,), parallel_tool_calls=False))
    assert model.counted("tool_calls_truncated_total", model="scripted", format="hermes") == 0


def test_overhead_is_neither_the_engines_time_nor_the_clients(tmp_path: Path, lines: io.StringIO) -> None:
    metrics = Metrics()
    spec = scripted(tmp_path, [{"match": None, "pieces": ["a", "b", "c", "d"], "delay_ms": 150}])
    pipeline = Pipeline(Catalog([spec]), Observer(metrics))

    async def walk_slowly() -> None:
        async with pipeline.open(asked()) as turn:
            await turn.run(lambda _: partial(asyncio.sleep, 0.15))  # as a client that reads slowly

    asyncio.run(walk_slowly())
    (line,) = [json.loads(text) for text in lines.getvalue().splitlines()]
    assert line["ms"] >= 1200
    assert 0 < line["overhead_ms"] < line["ms"] - 1100
    assert metrics.registry.get_sample_value("toolwire_overhead_seconds_count", {"model": "scripted"}) == 1
