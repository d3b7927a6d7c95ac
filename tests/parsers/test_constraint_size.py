"""What makes an engine slow to prepare a constraint is kept small: the texts that values may not hold."""

from collections.abc import Iterator
from typing import Any

import pytest

import parsers

MOST_EXCLUDED = 16
KINDS: dict[str, Any] = {
    "text": {"type": "string"},
    "count": {"type": "integer"},
    "shares": {"type": "array", "items": {"type": "number"}},
    "names": {"type": "array", "items": {"type": "string"}},
}
TOOL = parsers.Tool(
    "note", parameters={"type": "object", "properties": KINDS, "required": list(KINDS), "additionalProperties": False}
)


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nodes(child)


@pytest.mark.parametrize("name", parsers.names())
def test_values_exclude_few_texts(name):
    tag = parsers.constraint(parsers.get(name), [TOOL], "required")
    for node in nodes(tag):
        excluded = node.get("excludes", [])
        assert len(excluded) <= MOST_EXCLUDED, excluded
        assert not any(one != other and one in other for one in excluded for other in excluded), excluded


@pytest.mark.parametrize("name", ["qwen3_coder", "deepseek_v32", "minimax_m2"])
def test_only_json_with_strings_excludes_texts(name):
    tag = parsers.constraint(parsers.get(name), [TOOL], "required")
    schemas = [node for node in nodes(tag) if node.get("type") == "json_schema" and "style" not in node]
    excluding = [node["json_schema"].get("items") for node in schemas if "excludes" in node]
    assert excluding == [{"type": "string"}]
    assert len(schemas) > len(excluding)
