"""Demands on the real embedded engine, whose small model wanders wherever it may."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import parsers
from chat_templates import load
from gateway.backends.embedded import EmbeddedBackend
from gateway.backends.models import default_model
from gateway.chat.request import ResponseFormat, Sampling, ToolChoice
from gateway.planning import schemas
from gateway.planning.catalog import ModelSpec
from gateway.rendering import Renderer
from parsers import Message, Tool, fold
from tests.support.planned import STRICT_WEATHER, TIME, asked
from tests.support.walk import Walk, reason

ROUTE = Tool(
    "plan_route",
    "Plans a route between two places.",
    {
        "type": "object",
        "properties": {
            "from": {"type": "string", "maxLength": 20},
            "to": {"type": "string", "maxLength": 20},
            "by": {"type": "string", "enum": ["car", "train"]},
            "stops": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "maxItems": 3},
        },
        "required": ["from", "to", "by", "stops"],
        "additionalProperties": False,
    },
    strict=True,
)
TOOLS = (STRICT_WEATHER, TIME, ROUTE)
BY_NAME = {tool.name: tool for tool in TOOLS}
SEEDED = Sampling(max_tokens=160, temperature=1.0, seed=7)


@pytest.fixture(scope="module")
def spec() -> Iterator[ModelSpec]:
    pytest.importorskip("xllamacpp")
    backend = EmbeddedBackend(default_model(), context=4096, threads=1, parallel=1)
    yield ModelSpec(
        name="scripted",
        format=parsers.get("hermes"),
        renderer=Renderer.load(None, "toolwire/hermes"),
        backend=backend,
        engine_model="smollm2",
    )
    asyncio.run(backend.close())


def answered(spec: ModelSpec, text: str, **fields: Any) -> tuple[Message, str]:
    events = Walk(spec).events(asked(text, **{"tools": TOOLS, "sampling": SEEDED, **fields}))
    return fold(events), reason(events)


def all_valid(message: Message) -> bool:
    return all(schemas.violation(call.arguments, BY_NAME[call.name].parameters) is None for call in message.tool_calls)


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (ToolChoice("required"), set(BY_NAME)),
        (ToolChoice("named", "plan_route"), {"plan_route"}),
        (ToolChoice("required", allowed=("plan_route", "get_time")), {"plan_route", "get_time"}),
    ],
)
def test_a_forced_choice_is_kept(spec: ModelSpec, choice: ToolChoice, names: set[str]) -> None:
    message, ended = answered(spec, "Tell me a joke.", tool_choice=choice, parallel_tool_calls=False)
    assert ended == "tool_calls"
    assert len(message.tool_calls) == 1
    assert {call.name for call in message.tool_calls} <= names
    assert all_valid(message)
    assert message.content is None


@pytest.mark.parametrize("choice", ["required", "=plan_route"])
def test_thinking_is_no_way_out(spec: ModelSpec, choice: str, tmp_path: Path) -> None:
    """The prompt has opened the thinking: the turn may think, but it does not end without its call."""
    template = tmp_path / "thinking.jinja"
    text = load("hermes")
    opened = text.replace("<|im_start|>assistant\\n", "<|im_start|>assistant\\n<think>\\n")
    assert opened != text
    template.write_text(opened, encoding="utf-8")
    thinking = replace(spec, renderer=Renderer.load(None, str(template)))
    message, ended = answered(thinking, "Tell me a joke.", choice=choice)
    assert message.reasoning
    assert message.content is None
    assert ended in ("tool_calls", "length")
    assert all_valid(message) or ended == "length"


def test_a_model_may_decline(spec: ModelSpec) -> None:
    message, ended = answered(replace(spec, required_fallback="no_tool"), "Tell me a joke.", choice="required", tools=(ROUTE,))
    assert ended in ("stop", "tool_calls", "length")
    assert "answer_without_tool" not in json.dumps([message.content, *(call.name for call in message.tool_calls)])
    assert ended == "length" or bool(message.tool_calls) is (ended == "tool_calls")
    assert ended == "length" or all_valid(message)


def test_an_answer_keeps_its_format(spec: ModelSpec) -> None:
    shape = {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 99}},
        "required": ["n"],
        "additionalProperties": False,
    }
    wanted = ResponseFormat("json_schema", shape, strict=True)
    message, ended = answered(spec, "How many legs has a spider?", tools=(), response_format=wanted)
    assert ended == "stop"
    assert schemas.violation(message.content or "", shape) is None
