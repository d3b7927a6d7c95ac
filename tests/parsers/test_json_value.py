"""One JSON value: what is valid passes byte for byte at every cut, what is repaired is the value that was meant."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.readers.json_value import JsonValue, State
from tests.support.turns import cut

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12)
anything = st.recursive(
    scalars, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=5), v, max_size=4), max_leaves=12
)


def read(pieces: list[str], *, python: bool = False) -> JsonValue:
    value = JsonValue(python=python)
    for piece in pieces:
        if value.feed(piece, 0) < len(piece):
            break
    value.finish()
    return value


@settings(deadline=None, derandomize=True, database=None)
@given(anything, st.booleans(), st.sampled_from((None, 0, 3)), st.lists(st.integers(1, 7), min_size=1, max_size=4))
def test_valid_json_passes_byte_for_byte(value: Any, ascii_only: bool, indent: int | None, lengths: list[int]) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    for pieces in ([text], list(text), cut(text, lengths)):
        got = read(pieces)
        assert (got.state, got.take(), got.repairs) == (State.DONE, text, set())


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("{'a': 'it\\'s \"b\"'}", {"a": 'it\'s "b"'}),
        ('{"a": True, "b": [False, None]}', {"a": True, "b": [False, None]}),
        ('{"a": [1, 2,], "b": {"c": 1,},}', {"a": [1, 2], "b": {"c": 1}}),
        ('{"a": "x\n\ty\x01"}', {"a": "x\n\ty\x01"}),
        ('{"a": "C:\\dir \\x41 \\u12"}', {"a": "C:\\dir A \\u12"}),
    ],
)
def test_a_repair_gives_the_value_that_was_meant(text: str, meant: Any) -> None:
    for pieces in ([text], list(text)):
        got = read(pieces)
        assert got.state is State.DONE
        assert json.loads(got.take()) == meant
        assert got.repairs


@pytest.mark.parametrize(
    "text", ['{"a" 1}', "{a: 1}", '{"a": 1 "b": 2}', "[1 2]", '{"a": nul}', "[01]", "[1}", '{"a": "b" c"}', "+1", "*"]
)
def test_what_has_no_one_meaning_is_bad(text: str) -> None:
    for pieces in ([text], list(text)):
        assert read(pieces).state is State.BAD


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("(1, 'a', [None])", [1, "a", [None]]),
        ("+1", 1),
        ("-.5", -0.5),
        ("5.", 5.0),
        ("007", 7),
        ("1_000", 1000),
        ("'a\\\nb'", "ab"),
        ("'''"[:2], ""),
    ],
)
def test_python_literals(text: str, meant: Any) -> None:
    got = read(list(text), python=True)
    assert got.state is State.DONE
    assert json.loads(got.take()) == meant
    assert not got.repairs


def test_nesting_has_a_bound() -> None:
    assert read(["[" * 100_000]).state is State.BAD
