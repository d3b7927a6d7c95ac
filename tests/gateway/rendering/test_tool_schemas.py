"""Schemas that may be null, in the words a template can read; and tools that are shown only beside a system message."""

import json
from typing import Any

import pytest

from gateway.rendering import Renderer, Vocabulary
from gateway.rendering.tool_schemas import without_type_lists
from parsers import Tool

USER = {"role": "user", "content": "q"}
NULL = {"type": "null"}
TEXT = {"type": "string"}


def of(node: Any, nullable: Any) -> Any:
    """A property's schema as a template gets it."""
    return without_type_lists({"type": "object", "properties": {"p": node}}, nullable)["properties"]["p"]


@pytest.mark.parametrize(
    ("node", "any_of", "single"),
    [
        ({"type": ["string", "null"]}, {"anyOf": [TEXT, NULL]}, TEXT),
        (
            {"type": ["null", "string"], "description": "d"},
            {"anyOf": [NULL, TEXT], "description": "d"},
            TEXT | {"description": "d"},
        ),
        ({"anyOf": [TEXT, NULL]}, {"anyOf": [TEXT, NULL]}, TEXT),
        (
            {"anyOf": [TEXT, {"type": "integer"}, NULL]},
            {"anyOf": [TEXT, {"type": "integer"}, NULL]},
            {"anyOf": [TEXT, {"type": "integer"}]},
        ),
        (
            {"type": "array", "items": {"type": ["null"]}},
            {"type": "array", "items": {}},
            {"type": "array", "items": {}},
        ),
        (NULL, {}, {}),
        ({"enum": ["a", None]}, {"enum": ["a", None]}, {"enum": ["a", None]}),
    ],
)
def test_what_may_be_null_stays_so_where_the_template_can_say_it(node: Any, any_of: Any, single: Any) -> None:
    assert of(node, "any_of") == any_of
    assert of(node, "single") == single


# Python names of types, by a macro that takes whatever it can walk for alternatives: a list of types, but also the letters of one.
AS_PYTHON = (
    "{% macro kind(s) %}{% set names = {'string': 'str', 'integer': 'int'} %}"
    "{% if names[s.type] is defined %}{{ names[s.type] }}"
    "{% elif s.type is iterable %}{% for t in s.type %}{{ kind({'type': t}) }}|{% endfor %}{% endif %}{% endmacro %}"
)


def test_a_template_without_end_on_null_is_told_alternatives() -> None:
    template = AS_PYTHON + (
        "{% for t in tools or [] %}{{ t.function.name }} {{ t.function.description }}"
        "{% for k, s in t.function.parameters.properties | items %}{{ k }}: {{ kind(s) }}; {% endfor %}"
        "{{ t.function.parameters | tojson }}{% endfor %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    )
    given = {"note": {"type": ["string", "null"]}, "day": {"type": "integer"}}
    text = Renderer(template, Vocabulary()).render([USER], [Tool("f", "d", {"type": "object", "properties": given})]).text
    assert "day: int" in text
    shown = json.loads(text[text.index("{") : text.rindex("}") + 1])
    assert shown["properties"]["note"] == {"anyOf": [TEXT, NULL]}


BESIDE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% if m.role in ('system', 'developer') and tools %}{{ tools | tojson }}{% endif %}{% endfor %}"
)


@pytest.mark.parametrize("role", ["system", "developer", None])
def test_tools_beside_a_system_message_are_shown_once(role: str | None) -> None:
    messages = [{"role": role, "content": "Be brief."}, USER] if role else [USER]
    text = Renderer(BESIDE, Vocabulary()).render(messages, [Tool("look_up", "x", {})]).text
    assert text.count("look_up") == 1
    assert text.startswith("<system>Be brief." if role else "<system>[{")
