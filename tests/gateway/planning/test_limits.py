"""What decoding is not held to: it is told to the client, and checked once it is written."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gateway.chat.plan import Plan, Prompt
from gateway.chat.request import ResponseFormat, ToolChoice
from gateway.planning.catalog import ModelSpec
from gateway.planning.planner import plan, prompt_of
from parsers import Tool
from tests.support.decoders import refusal
from tests.support.planned import STRICT_WEATHER, TIME, WEATHER, asked, scripted

TAGS = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
TAGGED = Tool("tag", parameters={"type": "object", "properties": {"tags": TAGS, "more": {"not": {"const": 1}}}}, strict=True)
WORDS = "function 'tag': properties.tags.uniqueItems, properties.more.not only checked after decoding"


@dataclass
class Opened:
    """A renderer whose prompt has begun the turn like this."""

    opening: str

    def render(self, messages: Any, tools: Any, template_kwargs: Any, *, continues: bool) -> Prompt:
        return Prompt("x", None, self.opening)


@pytest.fixture
def spec(tmp_path: Path) -> ModelSpec:
    return scripted(tmp_path, "x")


def planned(spec: ModelSpec, dialect: Any = "structural_tag", opening: str = "", **fields: Any) -> Plan:
    spec.backend.dialect = dialect
    return plan(asked(**fields), replace(spec, renderer=Opened(opening)) if opening else spec)


@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
@pytest.mark.parametrize("fields", [{}, {"choice": "required"}])
def test_what_no_grammar_holds_is_told_with_tool_and_place(spec: ModelSpec, dialect: str, fields: dict[str, Any]) -> None:
    made = planned(spec, dialect, tools=(STRICT_WEATHER, TAGGED), **fields)
    assert made.constraint is not None
    assert made.warnings == (WORDS,)
    assert made.loose == {"tag"}


@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
def test_the_same_of_an_answer(spec: ModelSpec, dialect: str) -> None:
    wanted = ResponseFormat("json_schema", {"type": "object", "properties": {"tags": TAGS}}, "tagged", held=True)
    made = planned(spec, dialect, response_format=wanted)
    assert made.constraint is not None
    assert made.warnings == ("response_format 'tagged': properties.tags.uniqueItems only checked after decoding",)
    assert made.loose_answer


def test_a_count_too_large_to_be_held_is_told_and_left_out(spec: ModelSpec) -> None:
    numbers = {"type": "array", "items": {"type": "integer"}, "minItems": 10**9}
    rows = Tool("rows", parameters={"type": "object", "properties": {"all": numbers}, "required": ["all"]})
    made = planned(spec, "lark", tools=(rows,), choice="required")
    assert made.warnings == ("function 'rows': properties.all.minItems only checked after decoding",)
    assert made.constraint is not None
    assert str(10**9) not in made.constraint.value


def test_many_places_are_not_all_named(spec: ModelSpec) -> None:
    many = Tool("many", parameters={"type": "object", "properties": {f"p{n}": TAGS for n in range(9)}}, strict=True)
    (warning,) = planned(spec, tools=(many,)).warnings
    assert "properties.p3.uniqueItems and 5 more only checked" in warning


def test_what_nobody_is_held_to_is_no_reason_for_a_warning(spec: ModelSpec) -> None:
    made = planned(spec, tools=(STRICT_WEATHER, replace(TAGGED, strict=False)))
    assert (made.warnings, made.loose) == ((), frozenset())


def test_where_nothing_holds_decoding_every_held_call_is_loose(spec: ModelSpec) -> None:
    made = planned(spec, None, tools=(STRICT_WEATHER, TIME))
    assert made.loose == {"get_weather"}
    assert planned(spec, None, tools=(STRICT_WEATHER, TIME), choice="required").loose == {"get_weather", "get_time"}
    assert not made.loose_answer


@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
def test_calls_are_limited_to_the_allowed_tools_and_all_are_shown(spec: ModelSpec, dialect: str) -> None:
    choice = ToolChoice("auto", allowed=("get_time",))
    made = planned(spec, dialect, tools=(WEATHER, TIME), tool_choice=choice)
    assert made.constraint is not None
    assert "get_time" in str(made.constraint.value)
    assert "get_weather" not in str(made.constraint.value)
    assert made.prompt == planned(spec, dialect, tools=(WEATHER, TIME)).prompt
    assert "get_weather" in made.prompt.text
    everything = ToolChoice("auto", allowed=("get_time", "get_weather"))
    assert planned(spec, dialect, tools=(WEATHER, TIME), tool_choice=everything).constraint is None


def test_a_hidden_function_is_shown_and_may_be_called(spec: ModelSpec) -> None:
    declining = replace(spec, required_fallback="no_tool")
    made = planned(declining, tools=(WEATHER,), choice="required")
    assert made.hidden == "answer_without_tool"
    assert [tool.name for tool in made.tools] == ["get_weather", "answer_without_tool"]
    assert "answer_without_tool" in made.prompt.text
    assert made.constraint is not None
    assert "answer_without_tool" in str(made.constraint.value)
    assert prompt_of(asked(tools=(WEATHER,), choice="required"), declining) == made.prompt
    assert [tool.name for tool in made.request.tools] == ["get_weather"]


@pytest.mark.parametrize("fields", [{"choice": "auto"}, {"choice": "=get_weather"}, {"choice": "none"}])
def test_there_is_none_where_nothing_is_required(spec: ModelSpec, fields: dict[str, Any]) -> None:
    made = planned(replace(spec, required_fallback="no_tool"), tools=(WEATHER,), **fields)
    assert made.hidden is None
    assert "answer_without_tool" not in made.prompt.text


@pytest.mark.parametrize("choice", ["required", "=get_weather"])
def test_a_forced_turn_may_think_first_but_not_end_so(spec: ModelSpec, choice: str) -> None:
    """Behind the thinking that the prompt has opened, or that the model opens, only calls can follow."""
    opened = planned(spec, tools=(WEATHER, TIME), choice=choice, opening="<think>\n")
    ahead = planned(spec, tools=(WEATHER, TIME), choice=choice)
    assert opened.constraint is not None
    assert ahead.constraint is not None
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    assert refusal(opened.constraint.value, f"hm</think>\n\n{call}") is None
    assert refusal(opened.constraint.value, "hm</think>\n\nNo.") is not None
    assert refusal(opened.constraint.value, "hm") is not None
    assert refusal(ahead.constraint.value, f"<think>hm</think>\n\n{call}") is None
    assert refusal(ahead.constraint.value, call) is None
    assert refusal(ahead.constraint.value, f"So: {call}") is not None
