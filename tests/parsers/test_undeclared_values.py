"""A value of an untyped format whose property is not declared has the type of those that may be added."""

import json

import pytest

import parsers

TOOL = parsers.Tool(
    "note",
    parameters={"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}},
)


@pytest.mark.parametrize("name", ["qwen3_coder", "glm47", "minimax_m2", "gemma4", "minimax_m3"])
def test_an_added_property_is_typed_by_the_schema_of_added_ones(name: str) -> None:
    fmt = parsers.get(name)
    turn = parsers.write(fmt, parsers.Message(tool_calls=(parsers.ToolCall("note", '{"a": "1", "b": 2}'),)))
    parser = parsers.Parser(fmt, tools=[TOOL])
    (call,) = parsers.fold(parser.feed(turn) + parser.finish("stop")).tool_calls
    assert json.loads(call.arguments) == {"a": "1", "b": 2}
