"""A gateway that records every turn of many streams at once loses none, and still answers."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gateway.pipeline.recording.compare import differences
from gateway.pipeline.recording.play import play
from tests.support.planned import hermes_call
from tests.support.server import CLIENT, Gateway, replay_model, serving

STREAMS = 40
TOOL = {"type": "function", "function": {"name": "note", "parameters": {"type": "object"}}}
TURNS = [{"match": None, "text": "I write.\n" + hermes_call("note", {"text": "word " * 60}), "delay_ms": 1}]


def ask(gateway: Gateway, number: int) -> str:
    body: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": f"number {number}"}], "tools": [TOOL]}
    with CLIENT.stream("POST", f"{gateway.base_url}/chat/completions", json={**body, "stream": True}, timeout=60) as answer:
        assert answer.read().endswith(b"data: [DONE]\n\n")
        return answer.headers["x-request-id"]


def test_nothing_is_lost_and_nobody_waits(tmp_path: Path) -> None:
    settings = {"models": [replay_model(tmp_path, TURNS, recorder="all")], "recordings": {"folder": str(tmp_path / "turns")}}
    with serving(settings) as gateway:
        with ThreadPoolExecutor(STREAMS) as pool:
            asked = set(pool.map(lambda number: ask(gateway, number), range(STREAMS)))
        registry = gateway.app.house.metrics.registry
    assert registry.get_sample_value("toolwire_recorder_turns_total", {"outcome": "written"}) == STREAMS
    records = [json.loads(line) for line in (tmp_path / "turns" / "turns.jsonl").read_text().splitlines()]
    assert {record["request_id"] for record in records} == asked
    assert all(not differences(record["outcome"], play(record)) for record in records)
    assert {record["request"]["messages"][0]["content"] for record in records} == {
        f"number {number}" for number in range(STREAMS)
    }
