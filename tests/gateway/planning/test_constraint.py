"""When decoding is held to something, to what, and how a schema that cannot be enforced is refused."""

import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import parsers
from gateway.backends.vllm import VllmBackend
from gateway.chat.plan import Dialect, Plan, Prompt
from gateway.chat.request import ResponseFormat
from gateway.errors import ResponseSchemaInvalid, ToolSchemaInvalid
from gateway.planning import grammar_check, xgrammar_check
from gateway.planning.catalog import ModelSpec
from gateway.planning.planner import plan
from parsers import Tool
from tests.support.decoders import refusal
from tests.support.planned import CITY, STRICT_WEATHER, TIME, WEATHER, asked, scripted

NOTHING = {"type": "integer", "minimum": 5, "maximum": 1}
DEEP = {"deep": {"anyOf": [{"type": "array", "items": NOTHING, "minItems": 1}, NOTHING]}}
UNHELD = Tool(
    "look_up",
    parameters={"type": "object", "properties": DEEP, "required": ["deep"], "additionalProperties": False},
    strict=True,
)
ANSWER = ResponseFormat("json_schema", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})

needs_xgrammar = pytest.mark.skipif(not xgrammar_check.available(), reason="xgrammar is not installed")


@dataclass
class Opened:
    """A template whose generation prompt has begun the turn with this."""

    opening: str

    def render(self, messages: Any, tools: Any, template_kwargs: Any, *, continues: bool) -> Prompt:
        return Prompt("x", (1,), self.opening)


@pytest.fixture
def spec(tmp_path: Path) -> ModelSpec:
    """A Hermes model on an engine that takes structural tags."""
    return replace(scripted(tmp_path, "x"), backend=VllmBackend(url="http://127.0.0.1:9"))


def planned(spec: ModelSpec, *, opening: str = "", dialect: Dialect | None = None, **fields: Any) -> Plan:
    if dialect is not None:
        spec.backend.dialect = dialect
    return plan(asked(**fields), replace(spec, renderer=Opened(opening)))


def texts(tag: Any) -> str:
    return json.dumps(tag, ensure_ascii=False)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tools": (WEATHER, TIME)},
        {"tools": (STRICT_WEATHER,), "choice": "none"},
    ],
)
def test_nothing_is_held_where_nothing_was_demanded(spec: ModelSpec, fields: dict[str, Any]) -> None:
    made = planned(spec, **fields)
    assert (made.constraint, made.warnings) == (None, ())


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": (WEATHER, TIME), "choice": "required"},
        {"tools": (WEATHER, TIME), "choice": "=get_time"},
        {"tools": (STRICT_WEATHER, TIME)},
    ],
)
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
def test_a_demand_is_held_while_decoding(spec: ModelSpec, fields: dict[str, Any], dialect: Dialect) -> None:
    made = planned(spec, dialect=dialect, **fields)
    assert made.constraint is not None
    assert made.constraint.kind == dialect
    assert grammar_check.problem_of(made.constraint) is None
    named = fields.get("choice") == "=get_time"
    assert ("get_weather" in texts(made.constraint.value)) is not named
    assert "get_time" in texts(made.constraint.value)
    assert made.warnings == ()


def test_a_function_may_be_called_like_a_choice(spec: ModelSpec) -> None:
    tools = (Tool("auto", parameters=CITY), WEATHER)
    made = planned(spec, tools=tools, choice="=auto")
    expected = parsers.constraint(spec.format, [tools[0]], "required", parallel=False)
    assert made.constraint is not None
    assert made.constraint.value == expected


@needs_xgrammar
@pytest.mark.parametrize("fields", [{"choice": "required"}, {}])
def test_what_cannot_be_enforced_names_tool_and_place(spec: ModelSpec, fields: dict[str, Any]) -> None:
    with pytest.raises(ToolSchemaInvalid) as refused:
        planned(spec, tools=(WEATHER, UNHELD), **fields)
    assert (
        "function 'look_up': In context=('properties', 'deep', 'anyOf', 0, 'items'), it cannot be enforced while decoding: "
        in str(refused.value)
    )
    assert "project/cpp" not in str(refused.value)
    assert refused.value.param == "tools[1].function.parameters"


def test_the_same_holds_for_an_embedded_engine(spec: ModelSpec) -> None:
    impossible = {"type": "object", "properties": {"a": NOTHING}, "required": ["a"]}
    with pytest.raises(ToolSchemaInvalid) as refused:
        planned(spec, dialect="lark", tools=(WEATHER, Tool("look_up", parameters=impossible)), choice="required")
    told = "function 'look_up': In context=('properties', 'a'), it cannot be enforced while decoding: Unsatisfiable schema: "
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.param == "tools[1].function.parameters"


@needs_xgrammar
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
def test_a_pattern_that_no_grammar_reads_is_left_to_the_check(spec: ModelSpec, dialect: Dialect) -> None:
    lookahead = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?=a).*$"}}, "required": ["a"]}
    made = planned(spec, dialect=dialect, tools=(Tool("look_up", parameters=lookahead),), choice="required")
    assert made.loose == {"look_up"}
    assert made.warnings == ("function 'look_up': properties.a.pattern only checked after decoding",)


@needs_xgrammar
@pytest.mark.parametrize(("family", "name"), [("llama4_pythonic", "it's"), ("qwen3_coder", "<b>"), ("gemma4", "a b")])
def test_a_name_that_a_format_cannot_write_is_refused(spec: ModelSpec, family: str, name: str) -> None:
    odd = Tool("look_up", parameters={"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})
    with pytest.raises(ToolSchemaInvalid) as refused:
        planned(replace(spec, format=parsers.get(family)), tools=(WEATHER, odd), choice="required")
    assert f"function 'look_up': In context={('properties', name)}" in str(refused.value)
    assert "cannot write this property's name" in str(refused.value)
    assert planned(spec, tools=(WEATHER, odd), choice="required").constraint is not None


@pytest.mark.parametrize(("family", "left"), [("gemma4", {"look_up"}), ("hermes", set())])
def test_what_a_formats_own_values_leave_out_is_told(spec: ModelSpec, family: str, left: set[str]) -> None:
    pair = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    counted = Tool("look_up", parameters={"type": "object", "properties": {"pair": pair}, "required": ["pair"]})
    made = planned(replace(spec, format=parsers.get(family)), tools=(counted,), choice="required")
    assert made.loose == left
    assert ("properties.pair.minItems" in " ".join(made.warnings)) is bool(left)


@needs_xgrammar
def test_a_tool_that_need_not_be_enforced_may_have_any_schema(spec: ModelSpec) -> None:
    assert planned(spec, tools=(WEATHER, replace(UNHELD, strict=False))).constraint is None


@needs_xgrammar
def test_a_response_schema_that_cannot_be_enforced_is_refused(spec: ModelSpec) -> None:
    wanted = ResponseFormat("json_schema", {"type": "object", "properties": {"a": NOTHING}, "required": ["a"]}, "answer")
    with pytest.raises(ResponseSchemaInvalid) as refused:
        planned(spec, response_format=wanted)
    assert "response_format 'answer': In context=()" in str(refused.value)


def held(made: Plan, text: str) -> bool:
    """Whether decoding under a plan's constraint could write this text."""
    assert made.constraint is not None
    assert made.constraint.kind == "structural_tag", "an engine's own JSON mode may change its compiler for good"
    assert grammar_check.problem_of(made.constraint) is None
    return refusal(made.constraint.value, text) is None


@needs_xgrammar
def test_content_is_held_to_its_format(spec: ModelSpec) -> None:
    made = planned(spec, response_format=ANSWER)
    assert held(made, '{"n": 3}')
    assert not held(made, '{"n": "3"}')
    anything = planned(spec, response_format=ResponseFormat("json_object"))
    assert held(anything, '{"a": [1, {}]}')
    assert not held(anything, "[1]")


@needs_xgrammar
def test_an_answer_in_a_format_may_be_thought_about_first(spec: ModelSpec) -> None:
    made = planned(spec, response_format=ANSWER, opening="<think>\n")
    assert held(made, 'Three.\n</think>\n\n{"n": 3}')
    assert not held(made, '{"n": 3}')
    closed = planned(spec, response_format=ANSWER, opening="<think>\n\n</think>\n\n")
    assert held(closed, '{"n": 3}')
    assert not held(closed, "Three.")


@needs_xgrammar
def test_tools_and_a_response_format_are_a_choice(spec: ModelSpec) -> None:
    made = planned(spec, tools=(WEATHER,), response_format=ANSWER)
    assert held(made, '{"n": 3}')
    assert held(made, '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>')
    assert not held(made, "Three.")
    assert made.warnings == ()


@needs_xgrammar
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
def test_one_call_at_most_is_held_while_decoding(spec: ModelSpec, dialect: Dialect) -> None:
    made = planned(spec, dialect=dialect, tools=(WEATHER, TIME), parallel_tool_calls=False)
    assert made.constraint is not None
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    for text, allowed in (("It rains.", True), (call, True), ("So:" + call, True), (call + "\n" + call, False)):
        assert (refusal(made.constraint.value, text) is None) is allowed, text
    assert (made.warnings, made.loose) == ((), frozenset())


@needs_xgrammar
def test_where_one_call_at_most_cannot_be_said_nothing_is_held(spec: ModelSpec) -> None:
    unsaid = replace(UNHELD, strict=False)
    assert planned(spec, tools=(unsaid,), parallel_tool_calls=False).constraint is None


def test_a_demanded_call_leaves_no_room_for_a_response_format(spec: ModelSpec) -> None:
    both = planned(spec, tools=(WEATHER,), choice="required", response_format=ANSWER)
    assert both.constraint == planned(spec, tools=(WEATHER,), choice="required").constraint


@pytest.mark.parametrize(
    "fields", [{"tools": (WEATHER,), "response_format": ANSWER}, {"opening": "<think>\n", "response_format": ANSWER}]
)
def test_what_an_embedded_engine_cannot_hold_is_remarked(spec: ModelSpec, fields: dict[str, Any]) -> None:
    made = planned(spec, dialect="lark", **fields)
    assert made.constraint is None
    assert "response_format is not enforced" in made.warnings[-1]


def test_a_grammar_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar_check, "SECONDS", 0.05)
    release = threading.Event()

    def slow() -> None:
        release.wait(10)

    try:
        assert "takes longer than 0.05 s" in (grammar_check.in_time(slow) or "")
    finally:
        release.set()
