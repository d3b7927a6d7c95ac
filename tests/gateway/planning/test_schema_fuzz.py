"""Any schema at all: it becomes a constraint that the engine's compiler takes, with a warning for what that leaves out, or it is
refused with its place. Nothing else ever happens."""

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.chat.request import ResponseFormat
from gateway.errors import RequestError, ResponseSchemaInvalid, ToolSchemaInvalid
from gateway.planning import grammar_check, unheld, xgrammar_check
from gateway.planning.catalog import ModelSpec
from gateway.planning.planner import plan
from parsers import Tool
from tests.support.planned import asked, scripted

needs_xgrammar = pytest.mark.skipif(not xgrammar_check.available(), reason="xgrammar is not installed")
NAMES = st.sampled_from(["a", "b", "\ud800", "city", "weather_in", "ü", "with space", "$ref", "type"])
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null"])
REFERENCES = st.sampled_from(
    ["#", "#/$defs/a", "#/$defs/b", "#/definitions/a", "#/properties/a", "http://127.0.0.1:9/x", "#/$defs/none"]
)
PATTERNS = st.sampled_from(
    ["^a+$", "x", "^x_", "a|b", r"^\d{3}-\w$", r"^\p{L}+$", "(?=a)b", r'^"q"$', "[", r"(a)\1", "^$", "(a+)+$"]
)
FORMATS = st.sampled_from(["date", "date-time", "email", "uuid", "uri", "ipv4", "color", "regex", "duration", ""])
SMALL = st.integers(min_value=-2, max_value=6)
SIZES = st.integers(min_value=0, max_value=5)
VALUES = st.one_of(st.none(), st.booleans(), SMALL, st.sampled_from([0.5, 1e30, "a", "", "</tool_call>", "日本", [1], {"a": 1}]))
ODD = st.one_of(VALUES, st.sampled_from(["text", [], {}, [{}], True]))


def keywords(children: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    some = st.lists(children, min_size=1, max_size=3)
    named = st.dictionaries(NAMES, children, max_size=3)
    return {
        "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
        "properties": named,
        "required": st.lists(NAMES, max_size=3, unique=True),
        "additionalProperties": st.one_of(st.booleans(), children),
        "items": st.one_of(children, st.booleans()),
        "prefixItems": some,
        "anyOf": some,
        "oneOf": some,
        "allOf": some,
        "not": children,
        "if": children,
        "then": children,
        "contains": children,
        "propertyNames": children,
        "patternProperties": st.dictionaries(PATTERNS, children, max_size=2),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2), max_size=2),
        "enum": st.lists(VALUES, min_size=1, max_size=4),
        "const": VALUES,
        "pattern": PATTERNS,
        "format": FORMATS,
        "minLength": SIZES,
        "maxLength": SIZES,
        "minimum": SMALL,
        "exclusiveMaximum": SMALL,
        "multipleOf": st.sampled_from([1, 2, 0.5, 0.1]),
        "minItems": SIZES,
        "maxItems": SIZES,
        "uniqueItems": st.booleans(),
        "minProperties": SIZES,
        "maxProperties": SIZES,
        "unevaluatedProperties": st.booleans(),
        "$ref": REFERENCES,
        "$defs": named,
        "description": st.just("told to the model"),
        "nullable": st.booleans(),
    }


@st.composite
def a_schema(draw: st.DrawFn, depth: int = 3) -> dict[str, Any]:
    """A few keywords that may have nothing to do with one another; now and then one with a value of a wrong kind."""
    known = keywords(
        a_schema(depth - 1) if depth else st.sampled_from([{}, {"type": "string"}, {"type": "integer"}, {"$ref": "#"}])
    )
    chosen = draw(st.lists(st.sampled_from(sorted(known)), max_size=4, unique=True))
    found = {key: draw(known[key]) for key in chosen}
    if chosen and draw(st.integers(0, 19)) == 0:
        found[chosen[0]] = draw(ODD)
    return found


@st.composite
def parameters(draw: st.DrawFn) -> dict[str, Any]:
    """A schema of an object, as most are."""
    return {**draw(a_schema()), "type": "object", "properties": draw(st.dictionaries(NAMES, a_schema(2), max_size=3))}


@functools.cache
def model(dialect: str, policy: str) -> ModelSpec:
    folder = Path(tempfile.mkdtemp(prefix="toolwire-fuzz-"))
    spec = scripted(folder, "x", strict_policy=policy)
    spec.backend.dialect = dialect
    return spec


def outcome(spec: ModelSpec, schema: dict[str, Any], **fields: Any) -> tuple[Any, RequestError | None]:
    try:
        return plan(asked(**fields), spec), None
    except RequestError as error:
        return None, error


FUZZ = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@needs_xgrammar
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
@FUZZ
@given(schema=parameters(), strict=st.booleans(), policy=st.sampled_from(["openai", "repair", "lenient"]))
def test_a_tool_is_held_to_its_schema_or_refused(dialect: Any, schema: dict[str, Any], strict: bool, policy: str) -> None:
    tool = Tool("book", parameters=schema, strict=strict)
    made, error = outcome(model(dialect, policy), schema, tools=(tool,), choice="required")
    if error is not None:
        assert isinstance(error, ToolSchemaInvalid)
        assert (error.status, error.param) == (400, "tools[0].function.parameters"), json.dumps(schema)
        assert error.message.startswith("Invalid schema for function 'book': ")
        return
    assert made.constraint is not None
    assert grammar_check.problem_of(made.constraint) is None
    left = unheld.places(made.tools[0].parameters, dialect)
    assert made.loose == ({"book"} if left else frozenset())
    assert any("only checked after decoding" in warning for warning in made.warnings) is bool(left)


@needs_xgrammar
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
@FUZZ
@given(schema=a_schema(), strict=st.booleans(), policy=st.sampled_from(["openai", "repair", "lenient"]))
def test_an_answer_is_held_to_its_schema_or_refused(dialect: Any, schema: dict[str, Any], strict: bool, policy: str) -> None:
    wanted = ResponseFormat("json_schema", schema, "book", strict=strict, held=True)
    made, error = outcome(model(dialect, policy), schema, response_format=wanted)
    if error is not None:
        assert isinstance(error, ResponseSchemaInvalid)
        assert (error.status, error.param) == (400, "response_format"), json.dumps(schema)
        assert error.message.startswith("Invalid schema for response_format 'book': ")
        return
    assert made.constraint is not None
    assert grammar_check.problem_of(made.constraint) is None
