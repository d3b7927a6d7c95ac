"""Turns are recorded as the engine wrote them, without secrets, and played again they come out the same."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import parsers
from gateway.backends.replay import ReplayBackend
from gateway.chat.events import Batch, Piece
from gateway.chat.flow import Pulled, Reads
from gateway.chat.plan import Plan
from gateway.chat.request import ChatRequest, ResponseFormat, Sampling
from gateway.errors import BackendRefused, BackendUnavailable, ToolCallInvalid
from gateway.pipeline import Pipeline
from gateway.pipeline.recording import Recordings, Redaction
from gateway.pipeline.recording.compare import differences
from gateway.pipeline.recording.play import NotRecorded, opening_with, play
from gateway.planning.catalog import Catalog
from gateway.rendering import Renderer
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.observer import Observer
from gateway.telemetry.recorder import NAME, Recorder
from tests.support.planned import STRICT_WEATHER, TIME, WEATHER, asked, hermes_call, scripted
from tests.support.walk import reads_of

TOOLS = (WEATHER, TIME)
SECRET = "sk-abcdefghijklmnop1234567890"


def record(folder: Path, turns: Any, *requests: ChatRequest, rules: dict[str, Any] | None = None, **fields: Any) -> list[Any]:
    """What is in the file after these requests."""
    spec = scripted(folder, turns, **{"recorder": "all", **fields})
    rules = rules or {}
    recorder = Recorder(folder / "recordings", Metrics(), file_bytes=1_000_000, files=2)
    redaction = Redaction(rules.get("masks", False), rules.get("secrets", ()))
    recordings = Recordings(recorder, rules.get("record_bytes", 100_000), redaction)
    pipeline = Pipeline(Catalog([spec]), Observer(Metrics()), None, recordings)

    async def walk() -> None:
        for request in requests:
            try:
                async with pipeline.open(request) as turn:
                    await reads_of(turn)
            except (ToolCallInvalid, BackendRefused):
                pass

    asyncio.run(walk())
    recorder.close()
    return [json.loads(line) for line in (folder / "recordings" / NAME).read_text("ascii").splitlines()]


def raw(record: Any) -> str:
    return "".join(piece[2] for piece in record["pieces"])


def test_a_refused_turn_is_there_with_its_raw_text(tmp_path: Path) -> None:
    text = hermes_call(arguments={"city": "Paris", "unit": "K"})
    (found,) = record(tmp_path, text, asked("what?", tools=TOOLS, choice="required"), recorder="errors")
    assert raw(found) == text.removesuffix("\n</tool_call>"), "as far as it was read"
    assert found["verdict"]["status"] == 502
    assert found["verdict"]["code"] == found["outcome"]["refused"] == "tool_call_invalid"
    assert "breaks" in found["verdict"]["message"]
    assert found["request"]["messages"] == [{"role": "user", "content": "what?"}]
    assert (found["model"], found["format"], found["attempt"]) == ("scripted", "hermes", 1)
    times = [piece[0] for piece in found["pieces"]]
    assert times == sorted(times)
    assert differences(found["outcome"], play(found)) == []


def test_errors_are_recorded_and_good_turns_are_not(tmp_path: Path) -> None:
    turns = [{"match": "good", "text": hermes_call()}, {"match": "undeclared", "text": hermes_call("launch")}]
    requests = [asked(word, tools=TOOLS) for word in ("good", "undeclared", "nothing fits")]
    found = record(tmp_path, turns, *requests, recorder="errors")
    assert [each["verdict"]["status"] for each in found] == [200, 400]
    assert [notice["kind"] for notice in found[0]["outcome"]["choices"][0]["notices"]] == ["undeclared"]
    assert found[1]["pieces"] == []


def test_both_attempts_of_a_retry_are_recorded(tmp_path: Path) -> None:
    turns = [
        {"match": "Nothing was carried out", "role": "tool", "text": hermes_call()},
        {"match": None, "text": hermes_call(arguments={})},
    ]
    found = record(tmp_path, turns, asked(tools=TOOLS, choice="required"), strict="retry")
    assert [(each["attempt"], each["verdict"]["status"]) for each in found] == [(1, 502), (2, 200)]
    assert found[1]["request"]["messages"][-1]["role"] == "tool"
    assert all(not differences(each["outcome"], play(each)) for each in found)


def test_a_client_that_went_away_is_no_error_but_is_told_where_all_is(tmp_path: Path) -> None:
    for mode, expected in (("all", [499]), ("errors", [])):
        folder = tmp_path / mode
        folder.mkdir()
        spec = scripted(folder, [{"match": None, "pieces": ["a", "b"]}], recorder=mode)
        recorder = Recorder(folder / "recordings", Metrics(), file_bytes=1_000_000, files=2)
        pipeline = Pipeline(Catalog([spec]), Observer(Metrics()), None, Recordings(recorder, 100_000))

        async def leave(pipeline: Pipeline = pipeline) -> None:
            async with pipeline.open(asked()) as turn:
                with suppress(Left):
                    await turn.run(_leaves)

        asyncio.run(leave())
        recorder.close()
        statuses = [json.loads(line)["verdict"]["status"] for line in (folder / "recordings" / NAME).read_text().splitlines()]
        assert statuses == expected


@pytest.mark.parametrize(
    ("turn", "fields"),
    [
        ("Let me look.\n" + hermes_call(), {}),
        (hermes_call() + "\n" + hermes_call("launch"), {"sampling": Sampling(n=2)}),
        (hermes_call() + hermes_call(), {"parallel_tool_calls": False}),
        (hermes_call()[:-14], {}),
        ("<think>\nHm.\n</think>\nWell.", {}),
        (hermes_call(arguments={"city": "3"}), {"choice": "required"}),
        ('{"n": 3}', {"response_format": ResponseFormat("json_object"), "choice": "none"}),
    ],
)
@pytest.mark.parametrize("masks", [False, True])
def test_a_recorded_turn_plays_the_same(tmp_path: Path, turn: str, fields: dict[str, Any], masks: bool) -> None:
    (found,) = record(tmp_path, turn, asked(tools=(STRICT_WEATHER, TIME), **fields), rules={"masks": masks})
    assert differences(found["outcome"], play(found)) == []


def test_another_parser_shows_its_difference(tmp_path: Path) -> None:
    (found,) = record(tmp_path, hermes_call(), asked(tools=TOOLS))
    places = [difference.place for difference in differences(found["outcome"], play(found, parsers.get("kimi_k2")))]
    assert "content" in places
    assert "tool_calls[0]" in places
    assert "finish" in places


def test_a_message_that_is_continued_is_opened_by_another_template_too(tmp_path: Path) -> None:
    messages = ({"role": "user", "content": "hi"}, {"role": "assistant", "content": "It is "})
    request = ChatRequest("scripted", messages, tools=TOOLS, continues=True)
    (found,) = record(tmp_path, "sunny.", request)
    assert found["plan"]["opening"].endswith("It is ")
    again = opening_with(Renderer.load(None, "toolwire/qwen3_coder"), found)
    assert again.endswith("It is ")
    assert differences(found["outcome"], play(found, None, again)) == []


def test_secrets_are_never_written_wherever_they_stand(tmp_path: Path) -> None:
    pieces = [
        "<tool_call>\n",
        '{"name": "get_weather", "arguments": {"city": "sk-abcdefgh',
        "ijklmnop12345",
        '67890"}}\n</tool_call>',
    ]
    said = f"my key is {SECRET}, the engine's engine-secret, Authorization: Bearer qwertyuiopasdf"
    messages = (
        {"role": "user", "content": [{"type": "text", "text": said}]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"password": "x1"}}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": '{"api_key": "0123456789"}'},
    )
    request = ChatRequest("scripted", messages, tools=TOOLS)
    (found,) = record(tmp_path, [{"match": None, "pieces": pieces}], request, rules={"secrets": ("engine-secret",)})
    text = (tmp_path / "recordings" / NAME).read_text()
    for secret in (SECRET, "ijklmnop", "engine-secret", "qwertyuiop", "x1", "0123456789"):
        assert secret not in text
    assert found["redacted"] == "secrets"
    assert json.loads(found["outcome"]["choices"][0]["tool_calls"][0]["arguments"]) == {"city": "*" * len(SECRET)}
    assert [len(piece[2]) for piece in found["pieces"][:-1]] == [len(piece) for piece in pieces]
    assert differences(found["outcome"], play(found)) == []


def test_masked_turns_keep_their_form_and_say_nothing(tmp_path: Path) -> None:
    turn = "I phoned Zürich:\n" + hermes_call(arguments={"city": "Zürich\nat 5", "unit": "C", "secret": [1.5e3, True]})
    (found,) = record(tmp_path, turn, asked("Where is Ada?", tools=TOOLS), rules={"masks": True})
    text = (tmp_path / "recordings" / NAME).read_text()
    for word in ("phoned", "rich", "Ada", "secret", "weather."):
        assert word not in text
    (call,) = found["outcome"]["choices"][0]["tool_calls"]
    assert call["name"] == "get_weather"
    assert json.loads(call["arguments"]) == {"city": "xxxxxx\nxx 1", "unit": "C", "xxxxxx": [1111.1, True]}
    assert found["request"]["messages"][0]["content"] == "xxxxx xx xxx?"
    assert found["verdict"] == {"status": 200, "code": None, "message": None}


def test_a_message_that_is_continued_is_masked_too(tmp_path: Path) -> None:
    messages = ({"role": "user", "content": "hi"}, {"role": "assistant", "content": "Oslo is"})
    request = ChatRequest("scripted", messages, tools=TOOLS, continues=True)
    (found,) = record(tmp_path, " Oslo still.", request, rules={"masks": True})
    assert found["plan"]["opening"].endswith("xxxx xx")
    assert raw(found) == " xxxx xxxxx."
    assert "Oslo" not in json.dumps(found)
    assert differences(found["outcome"], play(found)) == []


def test_a_long_record_loses_its_messages_and_a_longer_one_is_not_written(tmp_path: Path) -> None:
    turns = [{"match": "long", "text": "y" * 9000}, {"match": None, "text": "Hello!"}]
    found = record(tmp_path, turns, asked("x" * 9000), asked("long"), asked("hi"), rules={"record_bytes": 5000})
    assert [each.get("left_out") for each in found] == [["messages"], None]
    assert raw(found[0]) == "Hello!"


def test_the_file_is_a_script_for_the_replay_backend(tmp_path: Path) -> None:
    requests = [asked("one", tools=TOOLS), asked("two", tools=TOOLS)]
    record(tmp_path, [{"match": "one", "text": hermes_call()}, {"match": "two", "text": "Hello!"}], *requests)
    spec = replace(scripted(tmp_path, "unused"), backend=ReplayBackend(tmp_path / "recordings" / NAME))
    model = Pipeline(Catalog([spec]), Observer(Metrics()))

    async def said(request: ChatRequest) -> parsers.Message:
        async with model.open(request) as turn:
            return parsers.fold([event for read in await reads_of(turn) for batch in read for event in batch.events])

    assert asyncio.run(said(requests[1])).content == "Hello!"
    assert [call.name for call in asyncio.run(said(requests[0])).tool_calls] == ["get_weather"]


@pytest.mark.parametrize("line", [{}, {"toolwire": "turn/9"}, {"toolwire": "turn/1", "format": "hermes"}])
def test_what_is_no_recorded_turn_is_said_to_be_none(line: Any) -> None:
    with pytest.raises(NotRecorded, match="not a recorded turn"):
        play(line)


def test_an_engine_that_broke_off_is_told_of_and_so_is_the_turn_that_was_taken_instead(tmp_path: Path) -> None:
    class Dies(ReplayBackend):
        """The first of its answers breaks off."""

        asked = 0

        @asynccontextmanager
        async def stream(self, plan: Plan) -> AsyncGenerator[Reads[list[Piece]]]:
            self.asked += 1
            async with super().stream(plan) as pieces:
                yield pieces if self.asked > 1 else Pulled(_broken(pieces))

    spec = replace(scripted(tmp_path, "Hello you!", recorder="all"), backend=Dies(tmp_path / "turns.jsonl"))
    recorder = Recorder(tmp_path / "recordings", Metrics(), file_bytes=1_000_000, files=2)
    pipeline = Pipeline(Catalog([spec]), Observer(Metrics()), None, Recordings(recorder, 100_000))

    async def walk() -> None:
        async with pipeline.open(asked()) as turn:
            turn.keep_back()
            await reads_of(turn)

    asyncio.run(walk())
    recorder.close()
    first, second = [json.loads(line) for line in (tmp_path / "recordings" / NAME).read_text().splitlines()]
    assert (first["verdict"]["code"], raw(first)) == ("backend_unavailable", "Hell")
    assert (second["verdict"]["status"], raw(second)) == (200, "Hello you!")


class Left(Exception):
    """Whoever took the turn is gone."""


def _leaves(_: list[Batch]) -> None:
    raise Left


async def _broken(pieces: Reads[list[Piece]]) -> AsyncGenerator[list[Piece]]:
    async for read in pieces:
        yield read
        raise BackendUnavailable("it died")
