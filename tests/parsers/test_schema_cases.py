"""Law: a value that satisfies its schema is let through, written as `json.dumps` does; what is let through satisfies it, or
breaks a keyword that is named.
"""

import json
from collections.abc import Iterator
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
from parsers.grammars.shapes import All, Const, Json, Text
from tests.support.decoders import refusal, wander
from tests.support.schema_cases import Case, cases
from tests.support.schemas import PIECES

FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
dialects = pytest.mark.parametrize("dialect", ["structural_tag", "lark"])


def constraint_of(schema: dict[str, Any], dialect: Any) -> tuple[Any, str | None]:
    """The constraint, or why there is none."""
    try:
        built = json_tag(schema) if dialect == "structural_tag" else lark(Json(schema))
    except parsers.ConstraintError as error:
        return None, str(error)
    problem = grammar_check.problem_of(Constraint(dialect, built))
    return (None, problem) if problem else (built, None)


def validator(schema: dict[str, Any]) -> Any:
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def broken(schema: dict[str, Any], value: Any) -> list[set[str]]:
    """Of each thing that is wrong with a value: the keywords on the way to what it breaks, in whichever alternative."""
    return [set(_keywords(error)) for error in validator(schema).iter_errors(value)]


def _keywords(error: Any) -> Iterator[str]:
    yield from map(str, error.evaluation_path)
    for branch in error.kind.as_dict().get("context") or ():
        for inner in branch:
            yield from _keywords(inner)


@dialects
@FUZZ
@given(case=cases(), data=st.data())
def test_what_satisfies_a_schema_is_let_through(dialect: str, case: Case, data: st.DataObject) -> None:
    value = data.draw(case.values)
    assume(not broken(case.schema, value))
    built, problem = constraint_of(case.schema, dialect)
    assert problem is None, json.dumps(case.schema)
    text = json.dumps(value, ensure_ascii=False)
    assert refusal(built, text) is None, f"{text} under {json.dumps(case.schema)}"


@dialects
@FUZZ
@given(case=cases(), seed=st.integers(0, 10_000))
def test_what_is_let_through_satisfies_it_or_breaks_what_is_named(dialect: Any, case: Case, seed: int) -> None:
    built, problem = constraint_of(case.schema, dialect)
    assume(problem is None)
    text = wander(built, PIECES, seed=seed, longest=300)
    assume(text is not None)
    named = {place.rpartition(".")[2] for place in unheld.answer_places(case.schema, dialect)}
    for path in broken(case.schema, json.loads(text or "")):
        assert named & path, f"{text} breaks {path}, not only {named}: {json.dumps(case.schema)}"


@dialects
@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "array", "unevaluatedItems": False}, ["unevaluatedItems"]),
        ({"type": "array", "items": {"type": "null"}, "contains": False}, ["contains"]),
        ({"type": "string", "if": {"const": "a"}, "then": False}, ["if", "then"]),
        ({"enum": [0, {"a": 1}], "unevaluatedProperties": False}, ["unevaluatedProperties"]),
        ({"type": "string", "not": False, "if": False}, []),
    ],
)
def test_what_a_false_schema_forbids_is_named(dialect: Any, schema: dict[str, Any], named: list[str]) -> None:
    assert sorted(unheld.answer_places(schema, dialect)) == named


@pytest.mark.parametrize(
    ("short", "others"), [(r"\d", "꤄a"), (r"\w", "é-"), (r"[\d_]", "꤄"), (r"\S", "\u00a0\ufeff "), (r"\D", "1")]
)
def test_letters_for_classes_mean_the_characters_that_the_check_means(short: str, others: str) -> None:
    schema = {"type": "string", "pattern": f"^{short}$"}
    text = lark(All((Const("<"), Text((">",), schema), Const(">"))))
    for other in others:
        assert not validator(schema).is_valid(other)
        assert refusal(json_tag(schema), json.dumps(other, ensure_ascii=False)) is not None
        assert refusal(text, f"<{other}>") is not None


def test_alternatives_keep_what_they_say_of_other_properties() -> None:
    keyed = {"type": "object", "patternProperties": {"^x_": {"type": "string"}}, "additionalProperties": False}
    schema = {"anyOf": [keyed], "not": {"const": "never"}}
    for built in (json_tag(schema), lark(Json(schema))):
        assert refusal(built, '{"x_1": "a"}') is None
        assert refusal(built, '{"y": "a"}') is not None
