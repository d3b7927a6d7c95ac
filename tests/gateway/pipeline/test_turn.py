"""The walk from a request to events, on a real engine's place taken by scripted turns."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.chat.request import ChatRequest, ResponseFormat, Sampling
from gateway.errors import BackendRefused, ContentInvalid, ToolCallInvalid, UnknownModel
from parsers import Notice, ToolCallEnd, fold
from tests.support.planned import STRICT_WEATHER, TIME, WEATHER, asked, hermes_call, scripted
from tests.support.walk import Walk, calls, reads_of, reason, walk

TOOLS = (WEATHER, TIME)


def test_text_and_a_call_come_out_as_events(tmp_path: Path) -> None:
    events = walk(tmp_path, "Let me look.\n" + hermes_call()).events(asked(tools=TOOLS))
    message = fold(events)
    assert (message.content or "").strip() == "Let me look."
    assert calls(message) == [("get_weather", {"city": "Paris"})]
    assert reason(events) == "tool_calls"


def test_events_come_while_the_engine_still_writes(tmp_path: Path) -> None:
    turns = [{"match": None, "pieces": ["one ", "two ", "three "], "delay_ms": 5}]
    pipeline = walk(tmp_path, turns).pipeline

    async def reads() -> int:
        async with pipeline.open(asked()) as turn:
            return len(await reads_of(turn))

    assert asyncio.run(reads()) == 4


@pytest.mark.parametrize("fields", [{"tools": TOOLS, "choice": "none"}, {}])
def test_without_callable_tools_markup_is_content(tmp_path: Path, fields: dict[str, Any]) -> None:
    events = walk(tmp_path, hermes_call()).events(asked(**fields))
    message = fold(events)
    assert message.tool_calls == ()
    assert "<tool_call>" in (message.content or "")
    assert reason(events) == "stop"


def test_a_call_to_another_tool_than_the_allowed_is_no_call(tmp_path: Path) -> None:
    message = fold(walk(tmp_path, hermes_call("delete_all")).events(asked(tools=TOOLS)))
    assert message.tool_calls == ()
    assert [notice.kind for notice in message.notices] == ["undeclared"]


def test_each_choice_has_its_own_parser(tmp_path: Path) -> None:
    model = walk(tmp_path, hermes_call())
    request = asked(tools=TOOLS, sampling=Sampling(n=3))
    for choice in range(3):
        assert calls(fold(model.events(request, choice))) == [("get_weather", {"city": "Paris"})]


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (hermes_call(arguments={"city": "Paris", "unit": "K"}), "['unit'] breaks properties/unit/enum"),
        (hermes_call(arguments={}), "the object itself breaks required"),
        ("It is sunny.", "without the demanded call to 'get_weather' or 'get_time'"),
        (hermes_call("delete_all"), "without the demanded call"),
    ],
)
def test_what_breaks_a_demand_never_finishes(tmp_path: Path, turn: str, told: str) -> None:
    model = walk(tmp_path, turn)
    with pytest.raises(ToolCallInvalid) as refused:
        model.events(asked(tools=TOOLS, choice="required"))
    assert told in str(refused.value)
    assert (refused.value.status, refused.value.code) == (502, "tool_call_invalid")
    assert model.counted("tool_calls_refused_total", model="scripted", format="hermes") == 1
    assert model.counted("requests_total", model="scripted", status="502") == 1


def test_a_named_function_takes_no_other(tmp_path: Path) -> None:
    with pytest.raises(ToolCallInvalid, match="without the demanded call to 'get_time'"):
        walk(tmp_path, hermes_call()).events(asked(tools=TOOLS, choice="=get_time"))


def test_a_strict_tool_is_held_to_its_schema_under_a_free_choice_too(tmp_path: Path) -> None:
    wrong = hermes_call(arguments={"city": 3})
    with pytest.raises(ToolCallInvalid, match="breaks properties/city/type"):
        walk(tmp_path, wrong).events(asked(tools=(STRICT_WEATHER, TIME)))
    loose = fold(walk(tmp_path, wrong).events(asked(tools=TOOLS)))
    assert calls(loose) == [("get_weather", {"city": 3})]


def test_a_model_entry_may_report_instead_of_failing(tmp_path: Path) -> None:
    model = walk(tmp_path, hermes_call(arguments={"city": 3}), strict="report")
    events = model.events(asked(tools=(STRICT_WEATHER,)))
    assert calls(fold(events)) == [("get_weather", {"city": 3})]
    place = next(place for place, event in enumerate(events) if isinstance(event, ToolCallEnd))
    assert isinstance(events[place + 1], Notice)
    assert model.counted("notices_total", model="scripted", format="hermes", kind="malformed") == 1
    nothing = walk(tmp_path, "No.", strict="report").events(asked(tools=(STRICT_WEATHER,), choice="required"))
    assert reason(nothing) == "stop"
    assert [event.kind for event in nothing if isinstance(event, Notice)] == ["malformed"]


def test_a_turn_cut_for_length_owes_no_call(tmp_path: Path) -> None:
    turns = [{"match": None, "text": "Let me think about", "finish": "length"}]
    assert reason(walk(tmp_path, turns).events(asked(tools=TOOLS, choice="required"))) == "length"


def test_a_call_cut_for_length_is_told_as_such(tmp_path: Path) -> None:
    turns = [{"match": None, "text": hermes_call(arguments={"city": "Par"})[:-16], "finish": "length"}]
    model = walk(tmp_path, turns)
    events = model.events(asked(tools=(STRICT_WEATHER,)))
    assert reason(events) == "length"
    assert [call.complete for call in fold(events).tool_calls] == [False]
    assert model.counted("tool_calls_truncated_total", model="scripted", format="hermes") == 1


@pytest.mark.parametrize("fields", [{"parallel_tool_calls": False}, {"choice": "=get_weather"}])
def test_one_call_asked_for_is_one_call_given(tmp_path: Path, fields: dict[str, Any]) -> None:
    turn = hermes_call() + "\n" + hermes_call(arguments={"city": "Rome"}) + "\nafter"
    events = walk(tmp_path, turn).events(asked(tools=TOOLS, **fields))
    message = fold(events)
    assert calls(message) == [("get_weather", {"city": "Paris"})]
    assert [notice.kind for notice in message.notices] == ["truncated"]
    assert reason(events) == "tool_calls"
    assert "after" not in (message.content or "")


def test_one_call_that_comes_alone_ends_as_ever(tmp_path: Path) -> None:
    model = walk(tmp_path, hermes_call())
    events = model.events(asked(tools=TOOLS, parallel_tool_calls=False))
    assert [type(event) for event in events].count(Notice) == 0
    assert model.usage is not None
    assert model.usage.prompt_tokens > 0


def test_parallel_calls_are_all_given(tmp_path: Path) -> None:
    turn = hermes_call() + "\n" + hermes_call(arguments={"city": "Rome"})
    message = fold(walk(tmp_path, turn).events(asked(tools=TOOLS)))
    assert calls(message) == [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})]


def test_usage_is_the_engines(tmp_path: Path) -> None:
    model = walk(tmp_path, [{"match": None, "pieces": ["a", "b", "c"]}])
    model.events(asked("one two three"))
    assert model.usage is not None
    assert model.usage.completion_tokens == 3
    assert model.counted("tokens_total", model="scripted", kind="completion") == 3


def test_an_unknown_model_is_counted_without_its_name(tmp_path: Path) -> None:
    model = walk(tmp_path, "x")
    with pytest.raises(UnknownModel):
        model.events(ChatRequest("no-such-model", ({"role": "user", "content": "x"},)))
    assert model.counted("requests_total", model="unknown", status="404") == 1


def test_a_refusal_of_the_engine_comes_before_the_turn(tmp_path: Path) -> None:
    model = walk(tmp_path, [{"match": "only this", "text": "x"}])
    with pytest.raises(BackendRefused):
        model.events(asked("something else"))
    assert model.counted("requests_running", model="scripted") == 0
    assert model.counted("requests_total", model="scripted", status="400") == 1


def _raises(_: object) -> None:
    raise TimeoutError


def test_leaving_early_ends_the_engines_stream(tmp_path: Path) -> None:
    model = walk(tmp_path, [{"match": None, "pieces": ["a"] * 1000, "delay_ms": 1000}])

    async def leave() -> None:
        async with model.pipeline.open(asked()) as turn:
            await turn.run(_raises)

    async def cancelled() -> None:
        job = asyncio.create_task(leave())
        while model.counted("requests_running", model="scripted") < 1:  # noqa: ASYNC110  # a metric tells it when asked
            await asyncio.sleep(0.01)
        job.cancel()
        await asyncio.gather(job, return_exceptions=True)

    asyncio.run(asyncio.wait_for(cancelled(), 60))
    assert model.counted("requests_running", model="scripted") == 0
    assert model.counted("requests_total", model="scripted", status="499") == 1


@pytest.mark.parametrize(
    ("text", "told"), [('{"n": "x"}', "['n'] breaks properties/n/type"), ("No.", "it is not JSON"), ('{"n": 1}', None)]
)
def test_a_strict_answer_is_held_to_its_format(tmp_path: Path, text: str, told: str | None) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
    spec = scripted(tmp_path, text)
    spec.backend.dialect = "structural_tag"  # as an engine that was given the constraint, and held only a part of it
    model = Walk(spec)
    request = asked(response_format=ResponseFormat("json_schema", schema, strict=True))
    if told is None:
        assert reason(model.events(request)) == "stop"
        return
    with pytest.raises(ContentInvalid) as refused:
        model.events(request)
    assert told in str(refused.value)
    assert (refused.value.status, refused.value.code) == (502, "response_format_invalid")
