"""What becomes of turns that break what was demanded of them: held back, mended, asked for again, or failed openly."""

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as piece_with

from gateway.backends.replay import ReplayBackend
from gateway.chat.events import Piece, TokenLogprob
from gateway.chat.flow import Pulled, Reads
from gateway.chat.plan import Plan
from gateway.chat.request import ResponseFormat, Sampling, ToolChoice
from gateway.errors import ContentInvalid, ToolCallInvalid, UnrenderableChat
from parsers import ContentDelta, Event, Notice, ReasoningDelta, Tool, ToolCallArguments, ToolCallStart, fold
from tests.support.planned import STRICT_WEATHER, TIME, WEATHER, asked, hermes_call, scripted
from tests.support.walk import Walk, calls, reason, walk

COUNT = Tool(
    "count",
    "Counts.",
    {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "of": {"type": "array", "items": {"type": "number"}, "uniqueItems": True}},
        "required": ["n"],
        "additionalProperties": False,
    },
    strict=True,
)
GOOD, BAD = hermes_call("count", {"n": 3}), hermes_call("count", {"n": "three"})
SHAPE = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
ANSWER = ResponseFormat("json_schema", SHAPE, strict=True)


def constrained(folder: Path, turns: Any, **fields: Any) -> Walk:
    """Turns of an engine that is given a constraint for all that a grammar can say."""
    spec = scripted(folder, turns, **fields)
    spec.backend.dialect = "structural_tag"
    return Walk(spec)


def kinds(events: list[Event]) -> set[type]:
    return {type(event) for event in events}


# ---- holding back


def test_no_part_of_an_invalid_call_leaves(tmp_path: Path) -> None:
    model = walk(tmp_path, "Let me count.\n" + BAD)
    with pytest.raises(ToolCallInvalid, match=r"'count' breaks the tool's schema: \['n'\] breaks properties/n/type"):
        model.events(asked(tools=(COUNT,)))
    assert kinds(model.left) == {ContentDelta}
    assert model.steps() == {"failed": 1}


def test_a_call_that_the_constraint_holds_leaves_as_it_comes(tmp_path: Path) -> None:
    turn = hermes_call(arguments={"city": "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"})
    for model, pieces in ((constrained(tmp_path, turn), True), (walk(tmp_path, turn), True)):
        events = model.events(asked(tools=(STRICT_WEATHER,)))
        assert (sum(isinstance(event, ToolCallArguments) for event in events) > 5) is pieces
        assert model.steps() == {"valid": 1}


def test_an_invalid_call_beside_valid_ones_is_the_end(tmp_path: Path) -> None:
    model = walk(tmp_path, GOOD + "\n" + BAD)
    with pytest.raises(ToolCallInvalid):
        model.events(asked(tools=(COUNT,)))
    assert calls(fold(model.left)) == [("count", {"n": 3})]
    assert model.steps() == {"valid": 1, "failed": 1}


def test_what_no_grammar_holds_is_warned_of_and_checked(tmp_path: Path) -> None:
    model = constrained(tmp_path, hermes_call("count", {"n": 1, "of": [2, 2]}))
    with pytest.raises(ToolCallInvalid, match=r"\['of'\] breaks properties/of/uniqueItems"):
        model.events(asked(tools=(COUNT,)))
    assert model.left == []


def test_a_call_cut_for_length_is_let_go_as_such(tmp_path: Path) -> None:
    model = walk(tmp_path, [{"match": None, "text": hermes_call("count", {"n": 3, "of": [1, 2]})[:-19], "finish": "length"}])
    events = model.events(asked(tools=(COUNT,)))
    assert [call.complete for call in fold(events).tool_calls] == [False]
    assert reason(events) == "length"


def test_the_refused_turn_is_logged_for_those_who_debug_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for level, shown in ((logging.INFO, False), (logging.DEBUG, True)):
        caplog.clear()
        with caplog.at_level(level, logger="gateway"), pytest.raises(ToolCallInvalid):
            walk(tmp_path, BAD).events(asked(tools=(COUNT,)))
        assert any("three" in record.getMessage() for record in caplog.records) is shown


# ---- mending


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"n": "3"}, {"n": 3}),
        ({"n": 3, "of": "[1, 2.50]"}, {"n": 3, "of": [1, 2.5]}),
        ({"n": "3", "of": ["1", 2]}, {"n": 3, "of": [1, 2]}),
    ],
)
def test_a_value_given_as_text_is_read_where_only_one_reading_is_left(tmp_path: Path, written: Any, read: Any) -> None:
    model = walk(tmp_path, hermes_call("count", written))
    message = fold(model.events(asked(tools=(COUNT,))))
    assert calls(message) == [("count", read)]
    assert [notice.kind for notice in message.notices] == ["repaired"]
    assert model.steps() == {"repaired": 1}
    assert model.counted("tool_calls_refused_total", model="scripted", format="hermes") == 0


@pytest.mark.parametrize("written", [{"n": "3.0"}, {"n": "03"}, {"n": " 3"}, {"n": None}, {"n": [3]}, {"n": "3", "x": 1}, {}])
def test_what_has_another_reading_is_not_guessed_at(tmp_path: Path, written: Any) -> None:
    with pytest.raises(ToolCallInvalid):
        walk(tmp_path, hermes_call("count", written)).events(asked(tools=(COUNT,)))


def test_nothing_is_mended_where_nothing_is_held(tmp_path: Path) -> None:
    loose = Tool("count", parameters=COUNT.parameters)
    assert calls(fold(walk(tmp_path, hermes_call("count", {"n": "3"})).events(asked(tools=(loose,))))) == [("count", {"n": "3"})]


# ---- asking again


def test_an_invalid_call_is_asked_for_again(tmp_path: Path) -> None:
    turns = [{"match": "breaks the tool's schema", "role": "tool", "text": GOOD}, {"match": None, "text": "Counting.\n" + BAD}]
    model = walk(tmp_path, turns, strict="retry")
    events = model.events(asked(tools=(COUNT,)))
    message = fold(events)
    assert calls(message) == [("count", {"n": 3})]
    assert message.content == "Counting."
    assert reason(events) == "tool_calls"
    assert model.steps() == {"retried": 1, "valid": 1}
    assert model.usage is not None
    once = walk(tmp_path, "Counting.\n" + BAD, strict="report")
    once.events(asked(tools=(COUNT,)))
    assert once.usage is not None
    assert model.usage.completion_tokens > once.usage.completion_tokens


def test_under_a_forced_choice_nothing_of_the_first_attempt_leaves(tmp_path: Path) -> None:
    turns = [{"match": "without the demanded call", "text": GOOD}, {"match": None, "text": "I would rather talk."}]
    model = walk(tmp_path, turns, strict="retry")
    message = fold(model.events(asked(tools=(COUNT, TIME), choice="required")))
    assert message.content is None
    assert calls(message) == [("count", {"n": 3})]


class Logged(ReplayBackend):
    """Turns whose tokens come with log probabilities."""

    @asynccontextmanager
    async def stream(self, plan: Plan) -> AsyncGenerator[Reads[list[Piece]]]:
        async def logged(reads: Reads[list[Piece]]) -> AsyncGenerator[list[Piece]]:
            async for read in reads:
                yield [piece_with(piece, logprobs=[TokenLogprob(piece.text, -1.0)] if piece.text else None) for piece in read]

        async with super().stream(plan) as reads:
            yield Pulled(logged(reads))


def test_log_probabilities_are_those_of_what_left(tmp_path: Path) -> None:
    turns = [{"match": "breaks the tool's schema", "role": "tool", "text": GOOD}, {"match": None, "text": "Counting.\n" + BAD}]
    spec = scripted(tmp_path, turns, strict="retry")
    model = Walk(replace(spec, backend=Logged(tmp_path / "turns.jsonl")))
    model.events(asked(tools=(COUNT,)))
    assert "".join(model.tokens).startswith("Counting.")
    assert "".join(model.tokens).endswith(GOOD)
    assert "three" not in "".join(model.tokens)


def test_a_second_failure_is_one(tmp_path: Path) -> None:
    model = walk(tmp_path, BAD, strict="retry")
    with pytest.raises(ToolCallInvalid):
        model.events(asked(tools=(COUNT,), choice="required"))
    assert model.left == []
    assert model.steps() == {"retried": 1, "failed": 1}
    assert model.counted("requests_total", model="scripted", status="502") == 1
    assert model.counted("requests_running", model="scripted") == 0


def test_several_choices_are_not_asked_for_again(tmp_path: Path) -> None:
    model = walk(tmp_path, BAD, strict="retry")
    with pytest.raises(ToolCallInvalid):
        model.events(asked(tools=(COUNT,), sampling=Sampling(n=2)))
    assert model.steps() == {"failed": 1}


def test_a_valid_turn_is_not_asked_for_again(tmp_path: Path) -> None:
    model = walk(tmp_path, "Counting.\n" + GOOD + "\n" + GOOD, strict="retry")
    assert calls(fold(model.events(asked(tools=(COUNT,))))) == [("count", {"n": 3})] * 2
    assert model.steps() == {"valid": 2}


def test_where_the_second_question_does_not_fit_the_first_problem_is_told(tmp_path: Path) -> None:
    class Grudging:
        """A template that takes one message only."""

        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def render(self, messages: Any, tools: Any, template_kwargs: Any, *, continues: bool) -> Any:
            if len(messages) > 1:
                raise UnrenderableChat("one message only")
            return self.inner.render(messages, tools, template_kwargs)

    spec = scripted(tmp_path, BAD, strict="retry")
    model = Walk(replace(spec, renderer=Grudging(spec.renderer)))
    with pytest.raises(ToolCallInvalid):
        model.events(asked(tools=(COUNT,)))


# ---- which tools


def narrowed(mode: Any, *names: str) -> ToolChoice:
    return ToolChoice(mode, allowed=names)


def test_a_tool_that_is_not_allowed_is_text_where_the_model_may_choose(tmp_path: Path) -> None:
    model = walk(tmp_path, hermes_call())
    message = fold(model.events(asked(tools=(WEATHER, TIME), tool_choice=narrowed("auto", "get_time"))))
    assert message.tool_calls == ()
    assert "get_weather" in (message.content or "")
    assert [notice.kind for notice in message.notices] == ["undeclared"]


def test_a_tool_that_is_not_allowed_breaks_a_forced_choice(tmp_path: Path) -> None:
    model = walk(tmp_path, hermes_call())
    with pytest.raises(ToolCallInvalid, match=r"without the demanded call to 'get_time' \(.*get_weather"):
        model.events(asked(tools=(WEATHER, TIME), tool_choice=narrowed("required", "get_time")))
    assert not {ToolCallStart, ToolCallArguments} & kinds(model.left)


def test_beside_an_allowed_call_another_one_is_still_no_call(tmp_path: Path) -> None:
    turn = hermes_call("get_time", {"zone": "CET"}) + "\n" + hermes_call()
    for choice in (narrowed("required", "get_time"), ToolChoice("named", "get_time")):
        message = fold(walk(tmp_path, turn).events(asked(tools=(WEATHER, TIME), tool_choice=choice)))
        assert calls(message) == [("get_time", {"zone": "CET"})]


THINKING = f"<think>\nI will call {GOOD} now.\n</think>\n\n"


@pytest.mark.parametrize("turn", [THINKING + "Done.", THINKING])
@pytest.mark.parametrize("choice", ["required", "=count"])
def test_a_call_that_is_only_thought_of_is_no_call(tmp_path: Path, turn: str, choice: str) -> None:
    model = walk(tmp_path, turn)
    with pytest.raises(ToolCallInvalid, match="without the demanded call to 'count'"):
        model.events(asked(tools=(COUNT, TIME), choice=choice))
    assert kinds(model.left) <= {ReasoningDelta, ContentDelta}


def test_a_call_behind_the_thinking_counts(tmp_path: Path) -> None:
    message = fold(walk(tmp_path, THINKING + GOOD).events(asked(tools=(COUNT, TIME), choice="=count")))
    assert calls(message) == [("count", {"n": 3})]
    assert "I will call" in (message.reasoning or "")


# ---- declining


def declining(text: str, name: str = "answer_without_tool") -> str:
    return hermes_call(name, {"answer": text})


def test_a_model_may_decline_in_words_where_its_entry_allows_it(tmp_path: Path) -> None:
    model = walk(tmp_path, declining('No tool says "why" — sorry.\n'), required_fallback="no_tool")
    events = model.events(asked(tools=(COUNT, TIME), choice="required"))
    message = fold(events)
    assert message.content == 'No tool says "why" — sorry.\n'
    assert (message.tool_calls, message.notices) == ((), ())
    assert reason(events) == "stop"
    assert model.steps() == {"declined": 1}
    assert model.counted("tool_calls_attempted_total", model="scripted", format="hermes") == 0


def test_the_hidden_function_leaves_no_trace_beside_real_calls(tmp_path: Path) -> None:
    turn = declining("Half of it: ") + "\n" + GOOD + "\n" + declining("the rest is beyond me.") + "\n" + GOOD
    events = walk(tmp_path, turn, required_fallback="no_tool").events(asked(tools=(COUNT,), choice="required"))
    message = fold(events)
    assert calls(message) == [("count", {"n": 3})] * 2
    assert [event.index for event in events if isinstance(event, ToolCallStart)] == [0, 1]
    assert message.content == "Half of it: the rest is beyond me."
    assert reason(events) == "tool_calls"


def test_words_that_are_cut_for_length_are_kept(tmp_path: Path) -> None:
    text = declining("First, then")
    turns = [{"match": None, "text": text[: text.index("then") + 2] + "\\u00", "finish": "length"}]
    events = walk(tmp_path, turns, required_fallback="no_tool").events(asked(tools=(COUNT,), choice="required"))
    assert fold(events).content == "First, th"
    assert reason(events) == "length"


def test_declining_without_words_is_not_declining(tmp_path: Path) -> None:
    model = walk(tmp_path, declining(""), required_fallback="no_tool")
    with pytest.raises(ToolCallInvalid, match="without the demanded call to 'count'"):
        model.events(asked(tools=(COUNT,), choice="required"))


@pytest.mark.parametrize(
    ("fields", "fallback"), [({"choice": "required"}, "none"), ({}, "no_tool"), ({"choice": "=count"}, "no_tool")]
)
def test_elsewhere_there_is_no_hidden_function(tmp_path: Path, fields: dict[str, Any], fallback: str) -> None:
    turn = declining("No.") + "\n" + GOOD
    message = fold(walk(tmp_path, turn, required_fallback=fallback).events(asked(tools=(COUNT,), **fields)))
    assert "answer_without_tool" in (message.content or "")
    assert calls(message) == [("count", {"n": 3})]


def test_a_client_may_have_a_function_of_that_name(tmp_path: Path) -> None:
    own = Tool("answer_without_tool", parameters={"type": "object", "properties": {"answer": {"type": "string"}}})
    turn = declining("mine") + "\n" + declining("hidden", "answer_without_tool_")
    message = fold(walk(tmp_path, turn, required_fallback="no_tool").events(asked(tools=(own,), choice="required")))
    assert calls(message) == [("answer_without_tool", {"answer": "mine"})]
    assert message.content == "hidden"


# ---- answers


@pytest.mark.parametrize("tools", [(), (WEATHER,)])
@pytest.mark.parametrize("policy", ["fail", "retry"])
def test_no_part_of_an_answer_that_breaks_its_format_leaves(tmp_path: Path, tools: Any, policy: str) -> None:
    model = walk(tmp_path, '{"n": "many"}', strict=policy)
    with pytest.raises(ContentInvalid, match=r"breaks the response format: \['n'\] breaks properties/n/type"):
        model.events(asked(tools=tools, response_format=ANSWER))
    assert model.left == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"n": 1}', '{"n": 1}'),
        ('```json\n{"n": 1}\n```', '{"n": 1}'),
        ('{"n": "1"}', '{"n": 1}'),
        ('```\n{"n": "1"}```', '{"n": 1}'),
    ],
)
@pytest.mark.parametrize("tools", [(), (WEATHER,)])
def test_an_answer_is_let_go_once_it_is_sure(tmp_path: Path, tools: Any, text: str, left: str) -> None:
    model = walk(tmp_path, text)
    events = model.events(asked(tools=tools, response_format=ANSWER))
    assert fold(events).content == left
    assert reason(events) == "stop"
    assert model.steps() == ({"valid": 1} if text == left else {"repaired": 1})


def test_tools_may_be_called_instead_of_the_answer(tmp_path: Path) -> None:
    model = walk(tmp_path, "Let me look.\n" + hermes_call())
    message = fold(model.events(asked(tools=(WEATHER,), response_format=ANSWER)))
    assert calls(message) == [("get_weather", {"city": "Paris"})]
    assert message.content == "Let me look."


def test_an_answer_is_asked_for_again(tmp_path: Path) -> None:
    turns = [{"match": "JSON of that format only", "text": '{"n": 4}'}, {"match": None, "text": "Four."}]
    model = walk(tmp_path, turns, strict="retry")
    assert fold(model.events(asked(response_format=ANSWER))).content == '{"n": 4}'
    assert model.steps() == {"retried": 1, "valid": 1}


@pytest.mark.parametrize(
    ("text", "told"), [("[1]", "it is no object but list"), ("Yes.", "it is not JSON"), ('{"a": NaN}', "NaN is not JSON")]
)
def test_a_json_object_is_one(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ContentInvalid, match=told):
        walk(tmp_path, text).events(asked(response_format=ResponseFormat("json_object")))
    assert json.loads(
        fold(walk(tmp_path, '{"a": 1}').events(asked(response_format=ResponseFormat("json_object")))).content or ""
    ) == {"a": 1}


@pytest.mark.parametrize(
    "fields", [{"response_format": ResponseFormat("json_schema", SHAPE)}, {"strict": "report", "response_format": ANSWER}]
)
def test_an_answer_that_need_not_be_valid_is_passed_on(tmp_path: Path, fields: dict[str, Any]) -> None:
    policy = fields.pop("strict", "fail")
    events = walk(tmp_path, "Four.", strict=policy).events(asked(**fields))
    assert fold(events).content == "Four."
    assert [type(event) for event in events].count(Notice) == (policy == "report")


def test_an_answer_cut_for_length_is_passed_on(tmp_path: Path) -> None:
    events = walk(tmp_path, [{"match": None, "text": '{"n": 1', "finish": "length"}]).events(asked(response_format=ANSWER))
    assert (fold(events).content, reason(events)) == ('{"n": 1', "length")
