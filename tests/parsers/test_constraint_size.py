"""What makes an engine slow to prepare a constraint is kept small: its text, and the texts that values may not hold."""

import re
from typing import Any

import pytest

import parsers

MOST_EXCLUDED = 32
KINDS: dict[str, Any] = {
    "text": {"type": "string"},
    "count": {"type": "integer"},
    "shares": {"type": "array", "items": {"type": "number"}},
    "names": {"type": "array", "items": {"type": "string"}},
}


def tool(number: int) -> parsers.Tool:
    properties = {f"{name}_{number}": schema for name, schema in KINDS.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return parsers.Tool(f"note_{number}", parameters=schema)


def grammar(name: str, tools: int, choice: str = "required") -> str:
    tag = parsers.constraint(parsers.get(name), [tool(number) for number in range(tools)], choice)
    assert isinstance(tag, dict)
    return str(tag["format"]["grammar"])


@pytest.mark.parametrize("name", parsers.names())
def test_values_exclude_few_texts(name):
    for inside in re.findall(r"excludes=\((.*)\)\)", grammar(name, 1)):
        excluded = re.findall(r'"(?:[^"\\]|\\.)*"', inside)
        assert len(excluded) <= MOST_EXCLUDED, excluded
        assert not any(one != other and one[1:-1] in other for one in excluded for other in excluded), excluded


@pytest.mark.parametrize("name", parsers.names())
def test_tools_share_what_they_have_in_common(name):
    one, ten = grammar(name, 1), grammar(name, 11)
    assert (len(ten) - len(one)) / 10 < 1300, "bytes for another tool of four properties"
    bodies = [line.partition(" ::= ")[2] for line in ten.splitlines() if not re.match("chars", line)]
    assert len(bodies) == len(set(bodies)), "a rule is written twice"


@pytest.mark.parametrize("name", ["harmony", "deepseek_v32", "qwen3_coder"])
def test_what_reasoning_may_not_hold_does_not_grow_with_the_tools(name):
    few, many = (re.findall(r"excludes=\(.*\)\)", grammar(name, tools)) for tools in (2, 30))
    assert few == many


@pytest.mark.parametrize("name", ["qwen3_coder", "deepseek_v32", "glm47"])
def test_arguments_of_one_schema_share_what_follows_their_names(name):
    lines = grammar(name, 11).splitlines()
    assert sum("TagDispatch" in line for line in lines) <= 2
    assert sum(re.search(r"\btext\d+ \"", line) is not None for line in lines) <= 2


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "mistral", "kimi_k2"])
def test_what_follows_several_beginnings_of_a_call_is_written_once(name):
    assert len(grammar(name, 11, "auto")) < 2.5 * len(grammar(name, 11))
