"""The input of a custom tool is the same text however its arguments are cut."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.protocols.custom_input import InputText, arguments_of, input_of

LAW = settings(max_examples=200, derandomize=True, database=None, deadline=None)


def read(pieces: list[str]) -> str:
    reader = InputText()
    return "".join([*(reader.feed(piece) for piece in pieces), reader.finish()])


@LAW
@given(text=st.text(st.characters(codec="utf-8")), ascii_only=st.booleans(), width=st.integers(1, 7))
def test_what_was_put_in_comes_out(text: str, ascii_only: bool, width: int) -> None:
    arguments = json.dumps({"input": text}, ensure_ascii=ascii_only)
    assert read([arguments[at : at + width] for at in range(0, len(arguments), width)]) == text
    assert input_of(arguments_of(text)) == text


@LAW
@given(
    arguments=st.text(st.sampled_from('{}": inputx\\ud83e0a1/\n'), max_size=40).map('{"input":"'.__add__) | st.text(max_size=30)
)
def test_any_text_reads_the_same_at_every_cut(arguments: str) -> None:
    whole = input_of(arguments)
    assert read(list(arguments)) == whole
    for at in range(len(arguments)):
        assert read([arguments[:at], arguments[at:]]) == whole


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", ""),
        ("{}", ""),
        ('{"input": ""}', ""),
        (' { "input" :\n"a\\nb" } ', "a\nb"),
        ('{"input": "\\ud83d\\ude00\\u00e9"}', "😀é"),
        ('{"note": 1, "input": "late"}', "late"),
        ('{"code": "x"}', '{"code": "x"}'),
        ('{"input": 3}', '{"input": 3}'),
        ("print(1)", "print(1)"),
        ('{"input": "cut of', "cut of"),
    ],
)
def test_texts(arguments: str, text: str) -> None:
    assert read(list(arguments)) == input_of(arguments) == text


def test_it_is_told_as_it_comes() -> None:
    reader = InputText()
    assert [reader.feed(piece) for piece in ('{"in', 'put": "a', "b\\", "nc\\ud8", '3d\\ude00"}')] == ["", "a", "b", "\nc", "😀"]
    assert reader.finish() == ""
