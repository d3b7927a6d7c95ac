"""A key that a schema requires and nowhere declares is written as well, in every family."""

import json

import pytest

import parsers
from tests.support.decoders import refusal

NOTE = parsers.Tool("note", parameters={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q", "z"]})
FAMILIES = ("hermes", "qwen3_coder", "deepseek_v32", "llama4_pythonic")


def turn(name: str, arguments: dict[str, object]) -> str:
    call = parsers.ToolCall("note", json.dumps(arguments))
    return parsers.write(parsers.get(name), parsers.Message(tool_calls=(call,)))


@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_required_key_without_a_schema_is_demanded(name, dialect):
    held = parsers.constraint(parsers.get(name), [NOTE], "required", dialect=dialect)
    assert refusal(held, turn(name, {"q": "a", "z": 3})) is None
    assert refusal(held, turn(name, {"q": "a"})) is not None
