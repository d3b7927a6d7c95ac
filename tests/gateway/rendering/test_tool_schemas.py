"""Schemas that may be null, in the words a template can read; and tools that are shown only beside a system message."""

import json
from typing import Any

import pytest

from gateway.rendering import Renderer, Vocabulary
from gateway.rendering.tool_links import without_links
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


# Names of Python types, by a macro that takes whatever it can walk for alternatives: a list of types, but also letters of one.
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


DEFINED = {
    "type": "object",
    "properties": {
        "home": {"$ref": "#/$defs/place", "description": "where"},
        "all": {"type": "array", "items": {"$ref": "#/$defs/place"}},
    },
    "$defs": {"place": {"type": "object", "properties": {"at": {"$ref": "#/$defs/point"}}}, "point": {"type": "array"}},
}
PLACE = {"type": "object", "properties": {"at": {"type": "array"}}}


def test_definitions_stand_in_the_places_of_links() -> None:
    properties = {"home": PLACE | {"description": "where"}, "all": {"type": "array", "items": PLACE}}
    assert without_links(DEFINED) == {"type": "object", "properties": properties}


@pytest.mark.parametrize("link", ["#/$defs/tree", "#/$defs/nowhere", "https://elsewhere.example/schema", "#"])
def test_a_link_that_cannot_be_resolved_stays_with_the_definitions(link: str) -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": link}}}
    told = without_links({"type": "object", "properties": {"root": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}})
    assert told["$defs"] == {"tree": tree}
    assert told["properties"]["root"]["type"] == "object"


def test_definitions_that_double_at_every_step_stay_links() -> None:
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {"type": "string"}}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": steps}
    assert without_links(schema) == schema


def test_data_that_looks_like_a_link_is_data() -> None:
    schema = {"type": "object", "properties": {"$ref": {"enum": [{"$ref": "#/$defs/a"}]}}, "$defs": {"a": {"type": "null"}}}
    assert without_links(schema)["properties"] == schema["properties"]


@pytest.mark.parametrize(
    "shown", ["t.function | tojson", "t.function.parameters.properties | tojson"], ids=["whole", "properties"]
)
def test_no_template_loses_what_a_link_points_to(shown: str) -> None:
    template = (
        "{% for t in tools or [] %}{{ t.function.name ~ t.function.description }}{{ "
        + shown
        + " }}{% endfor %}{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    schema = {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/d"}},
        "$defs": {"d": {"type": "string", "description": "the linked"}},
    }
    assert "the linked" in Renderer(template, Vocabulary()).render([USER], [Tool("f", "x", schema)]).text


# Asks every object what its other properties are.
ASKS = (
    "{% for t in tools or [] %}{{ t | tojson }}{% for s in t.function.parameters.properties.values() if s.type == 'object' %}"
    "{{ s.additionalProperties.type ~ '' if s.additionalProperties is defined else raise_exception('of what?') }}"
    "{% endfor %}{% endfor %}{% for m in messages %}{{ m.content }}{% endfor %}"
)


def test_objects_say_what_they_hold_where_the_template_asks() -> None:
    tool = Tool("f", "x", {"type": "object", "properties": {"p": {"type": "object"}}})
    assert '{"type": "object", "additionalProperties": {}}' in Renderer(ASKS, Vocabulary()).render([USER], [tool]).text


PARTS_ONLY = (
    "{% if tools %}{{ tools | tojson }}{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{% for p in m.content %}{{ p['text'] }}{% endfor %}{% endfor %}"
)


def test_a_template_that_reads_parts_only_is_looked_at_with_parts() -> None:
    renderer = Renderer(PARTS_ONLY, Vocabulary())
    assert renderer.capabilities.text_lists
    assert renderer.capabilities.system
    text = renderer.render([{"role": "system", "content": "Be brief."}, USER], [Tool("look_up", "x", {})]).text
    assert text.endswith("<system>Be brief.<user>q")
    assert "look_up" in text


def test_tools_are_given_for_calls_and_not_for_code() -> None:
    both = (
        "{% if python_tools %}Run: {{ python_tools | tojson }}{% endif %}"
        "{% if xml_tools %}Call: {{ xml_tools | tojson }}{% endif %}"
        "{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    assert Renderer(both, Vocabulary()).render([USER], [Tool("f", "x", {})]).text.startswith("Call: [{")
