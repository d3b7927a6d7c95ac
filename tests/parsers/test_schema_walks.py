"""Law: what a constraint lets through satisfies the schema, or the keyword that it may break is named."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import parsers
from gateway.chat.plan import Constraint
from gateway.planning import grammar_check, unheld
from parsers.grammars import json_tag
from parsers.grammars.lark import lark
from parsers.grammars.shapes import Json
from tests.support.decoders import wander
from tests.support.schemas import PIECES, schemas

FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def constraint_of(schema: dict[str, Any], dialect: str) -> Any:
    """The constraint; the schema is of no use here where there is none."""
    try:
        built = json_tag(schema) if dialect == "structural_tag" else lark(Json(schema))
    except parsers.ConstraintError:
        assume(False)
    assume(grammar_check.problem_of(Constraint(dialect, built)) is None)  # type: ignore[arg-type]
    return built


@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
@FUZZ
@given(schema=schemas(), seed=st.integers(0, 10_000))
def test_what_is_let_through_is_valid_or_its_breach_is_named(dialect: Any, schema: dict[str, Any], seed: int) -> None:
    built = constraint_of(schema, dialect)
    text = wander(built, PIECES, seed=seed, longest=300)
    if text is None:
        return
    value = json.loads(text)
    errors = list(jsonschema_rs.validator_for(schema, validate_formats=True).iter_errors(value))
    assert not errors or unheld.answer_places(schema, dialect), (text, [str(error)[:200] for error in errors[:2]])
