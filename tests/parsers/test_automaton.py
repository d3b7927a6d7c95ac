"""Descriptions that a parser could not decide are refused when they are compiled."""

import pytest

from parsers.automaton import compile_turn
from parsers.description import (
    Node,
    content,
    either,
    interleaved,
    json_arguments,
    many,
    marker,
    optional,
    python_call,
    reasoning,
    seq,
    tool_name,
)
from parsers.errors import FormatError


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (seq(either(content, reasoning), marker("<a>")), "two free texts"),
        (seq(content, python_call), "no marker between"),
        (seq(marker("<a>"), either(python_call, tool_name)), "two regions"),
        (seq(marker("<a>"), tool_name), "nothing ends"),
        (interleaved(content, either(seq(marker("<a>"), json_arguments), seq(marker("<a>"), marker("<b>")))), "in two ways"),
        (seq(marker("<a>"), either(json_arguments, json_arguments)), "in two ways"),
    ],
)
def test_what_is_ambiguous_is_refused(turn: Node, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        compile_turn(turn)


def test_positions_know_what_may_follow() -> None:
    start = compile_turn(
        seq(optional(marker("<t>"), reasoning, marker("</t>")), interleaved(content, many(marker("<c>"), json_arguments)))
    )
    assert set(start.markers) == {"<t>", "<c>"}
    assert start.text is not None
    assert start.accepting
    opened = start.markers["<c>"]
    assert set(opened.openers) == {"{", '"', "null"}
    assert not opened.accepting
    assert opened.openers["{"].accepting
