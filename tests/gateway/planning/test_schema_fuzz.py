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
from tests.support.any_schema import a_schema, parameters
from tests.support.planned import asked, scripted

needs_xgrammar = pytest.mark.skipif(not xgrammar_check.available(), reason="xgrammar is not installed")


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
    left = unheld.places(made.tools[0].parameters, dialect, made.format)
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
