"""What a request becomes before a byte goes out."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gateway.chat.plan import Plan, Prompt
from gateway.chat.request import ResponseFormat, Sampling, ToolChoice
from gateway.errors import ContextTooLong, ResponseSchemaInvalid, ToolSchemaInvalid
from gateway.planning.catalog import ModelSpec
from gateway.planning.planner import plan
from gateway.settings import SamplingDefaults
from parsers import Tool
from tests.support.planned import TIME, WEATHER, asked, scripted


@dataclass
class Counted:
    """A renderer whose prompts have a known number of tokens."""

    tokens: int

    def render(self, messages: Any, tools: Any, template_kwargs: Any, *, continues: bool) -> Prompt:
        return Prompt("x " * self.tokens, (1,) * self.tokens, "")


def planned(spec: ModelSpec, **fields: Any) -> Plan:
    return plan(asked(**fields), spec)


@pytest.fixture
def spec(tmp_path: Path) -> ModelSpec:
    return scripted(tmp_path, "x")


@pytest.mark.parametrize(
    ("choice", "callable_names", "shown"),
    [
        (ToolChoice("auto"), ["get_weather", "get_time"], True),
        (ToolChoice("required"), ["get_weather", "get_time"], True),
        (ToolChoice("named", "get_time"), ["get_time"], True),
        (ToolChoice("auto", allowed=("get_time",)), ["get_time"], True),
        (ToolChoice("none"), [], False),
    ],
)
def test_the_choice_decides_which_tools_a_call_may_name(
    spec: ModelSpec, choice: ToolChoice, callable_names: list[str], shown: bool
) -> None:
    made = planned(spec, tools=(WEATHER, TIME), tool_choice=choice)
    assert [tool.name for tool in made.tools] == callable_names
    assert ("get_weather" in made.prompt.text) is shown


def test_stop_texts_are_the_formats(spec: ModelSpec) -> None:
    made = planned(spec)
    assert made.stop_token_texts == spec.format.stop
    assert (made.model, made.format) == ("turns", spec.format)


def test_a_broken_tool_schema_names_its_place(spec: ModelSpec) -> None:
    broken = Tool("f", parameters={"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}})
    with pytest.raises(ToolSchemaInvalid) as refused:
        planned(spec, tools=(WEATHER, broken))
    assert refused.value.param == "tools[1].function.parameters"


def test_a_broken_response_schema_is_refused(spec: ModelSpec) -> None:
    with pytest.raises(ResponseSchemaInvalid):
        planned(spec, response_format=ResponseFormat("json_schema", {"type": "strange"}))


@pytest.mark.parametrize(
    ("asked_for", "context", "entry", "given", "warned"),
    [
        (None, None, None, None, False),
        (None, 100, None, 90, False),
        (50, 100, None, 50, False),
        (500, 100, None, 90, True),
        (500, None, 64, 64, True),
        (None, 100, 64, 64, False),
        (None, 50, 64, 40, False),
    ],
)
def test_max_tokens_is_cut_to_what_there_is(
    spec: ModelSpec, asked_for: int | None, context: int | None, entry: int | None, given: int | None, warned: bool
) -> None:
    model = replace(spec, renderer=Counted(10), context=context, max_tokens=entry)
    made = planned(model, sampling=Sampling(max_tokens=asked_for))
    assert made.sampling.max_tokens == given
    assert any(f"max_tokens {asked_for} was cut to {given}" in warning for warning in made.warnings) is warned


@pytest.mark.parametrize("tokens", [100, 101])
def test_a_prompt_that_fills_the_context_is_refused_in_openais_words(spec: ModelSpec, tokens: int) -> None:
    with pytest.raises(ContextTooLong) as refused:
        planned(replace(spec, renderer=Counted(tokens), context=100))
    assert str(refused.value).startswith(
        f"This model's maximum context length is 100 tokens. However, your messages resulted in {tokens} tokens."
    )
    assert (refused.value.code, refused.value.param) == ("context_length_exceeded", "messages")
    assert refused.value.tokens == (tokens, 100)


def test_the_entrys_sampling_stands_in_for_what_is_not_said(spec: ModelSpec) -> None:
    model = replace(spec, sampling=SamplingDefaults(temperature=0.3, top_p=0.9, max_tokens=7))
    assert planned(model).sampling == Sampling(temperature=0.3, top_p=0.9, max_tokens=7)
    assert planned(model, sampling=Sampling(temperature=0.0)).sampling == Sampling(temperature=0.0, top_p=0.9, max_tokens=7)


def test_warnings_of_the_request_are_kept(spec: ModelSpec) -> None:
    assert planned(spec, warnings=("x has no effect",)).warnings[0] == "x has no effect"


@pytest.mark.parametrize(
    "fields", [{"choice": "required"}, {"choice": "=get_time"}, {"response_format": ResponseFormat("json_object")}]
)
def test_an_engine_without_a_dialect_is_remarked(spec: ModelSpec, fields: dict[str, Any]) -> None:
    made = planned(spec, tools=(WEATHER, TIME), **fields)
    assert made.constraint is None
    assert "this engine takes no constraints" in made.warnings[-1]


def test_a_free_choice_is_no_reason_for_a_warning(spec: ModelSpec) -> None:
    assert planned(spec, tools=(WEATHER, TIME)).warnings == ()


def test_a_model_that_makes_one_call_a_turn_is_never_asked_for_more(spec: ModelSpec) -> None:
    made = planned(replace(spec, parallel_calls=False), tools=(WEATHER, TIME))
    assert made.request.parallel_tool_calls is False
    assert planned(spec, tools=(WEATHER, TIME)).request.parallel_tool_calls is True
