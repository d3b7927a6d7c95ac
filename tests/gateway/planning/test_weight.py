"""Which requests are planned on the spot: those that take about a millisecond."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.backends.embedded import EmbeddedBackend
from gateway.backends.replay import ReplayBackend
from gateway.chat.request import ResponseFormat, ToolChoice
from gateway.planning.weight import MOST_CHARACTERS, is_light
from tests.support.planned import STRICT_WEATHER, TIME, WEATHER, asked, scripted

LONG = "x" * MOST_CHARACTERS
CALL = {"function": {"name": "get_weather", "arguments": LONG}}


@pytest.mark.parametrize("fields", [{}, {"tools": (WEATHER, TIME)}, {"tools": (WEATHER,), "choice": "none"}])
def test_a_short_question_is_light(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert is_light(asked(**fields), scripted(tmp_path, "x"))


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": ({"role": "user", "content": LONG},)},
        {"messages": ({"role": "user", "content": [{"type": "text", "text": LONG}]},)},
        {"messages": ({"role": "assistant", "content": None, "tool_calls": [CALL]},)},
        {"messages": ({"role": "user", "content": ""},) * 1000},
        {"tools": (WEATHER,) * 10},
    ],
)
def test_much_to_render_is_not(tmp_path: Path, fields: dict[str, Any]) -> None:
    request = replace(asked(), **fields)
    assert not is_light(request, scripted(tmp_path, "x"))


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": (WEATHER,), "choice": "required"},
        {"tools": (WEATHER,), "choice": "=get_weather"},
        {"tools": (WEATHER, TIME), "tool_choice": ToolChoice("auto", allowed=("get_time",))},
        {"tools": (STRICT_WEATHER,)},
        {"tools": (WEATHER,), "parallel_tool_calls": False},
        {"response_format": ResponseFormat("json_object")},
    ],
)
def test_what_may_need_a_grammar_is_not(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert not is_light(asked(**fields), scripted(tmp_path, "x"))


def test_an_engine_that_encodes_is_not_waited_for_on_the_spot(tmp_path: Path) -> None:
    class Encoding(ReplayBackend):
        def encode(self, text: str) -> list[int]:
            return list(text.encode())

    spec = scripted(tmp_path, "x")
    assert not is_light(asked(), replace(spec, backend=Encoding(tmp_path / "turns.jsonl")))
    assert hasattr(EmbeddedBackend, "encode")
