"""Law, for every family: a forced call under any schema satisfies it, or what it may break is named, or the schema is refused."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import parsers
from gateway.chat.plan import Dialect
from gateway.planning import unheld, xgrammar_check
from gateway.planning.built import Wanted, built
from parsers import Tool
from tests.support.decoders import wander
from tests.support.schemas import PIECES, objects, schemas

needs_xgrammar = pytest.mark.skipif(not xgrammar_check.available(), reason="xgrammar is not installed")
FEW = settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))


def pieces_of(name: str) -> list[str]:
    """What turns of a family are put together from, beside what values hold."""
    whole = parsers.write(parsers.get(name), parsers.Message(tool_calls=(parsers.ToolCall("look_up", '{"a": "b"}'),)))
    return [*PIECES, "\n", "<", "</", *whole.split("a"), *whole.split("b")]


@needs_xgrammar
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
@pytest.mark.parametrize("name", parsers.names())
@FEW
@given(schema=schemas(root=objects), seed=st.integers(0, 10_000))
def test_forced_calls_are_valid_or_what_they_may_break_is_named(
    name: str, dialect: Dialect, schema: dict[str, Any], seed: int
) -> None:
    fmt, tool = parsers.get(name), Tool("look_up", parameters=schema, strict=True)
    constraint, problem = built(Wanted(fmt, "required", parallel=False, dialect=dialect, opening=""), [tool])
    if constraint is None:
        assert problem is not None
        return
    turn = wander(constraint.value, pieces_of(name), seed=seed, longest=500)
    if turn is None:
        return
    parser = parsers.Parser(fmt, tools=[tool])
    message = parsers.fold(parser.feed(turn) + parser.finish("stop"))
    assert [call.name for call in message.tool_calls] == ["look_up"], turn
    assert message.tool_calls[0].complete, turn
    errors = jsonschema_rs.validator_for(schema, validate_formats=True).iter_errors(json.loads(message.tool_calls[0].arguments))
    found = [f"{list(error.instance_path)} {error.message[:100]}" for error in errors]
    assert not found or unheld.places(schema, dialect, fmt), (turn, found)
