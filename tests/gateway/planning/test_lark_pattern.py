"""Lark grammars as expressions: what they let through, and the words for what cannot be one."""

import re

import pytest

from gateway.planning.lark_pattern import GrammarRefused, pattern_of

SUM = """
// a sum of products
start: expr
expr: term (SP ADD SP term)* -> add
    | term
?term: INT (SP "*" SP INT)* -> mul
SP: " "
ADD: "+"
%import common.INT
"""
PATCH = """
start: "*** Begin" LF line+ end?
line: ("+" | "-") /(.*)/ LF -> line
end: "*** End"i LF~1..2
%import common (LF)
"""


@pytest.mark.parametrize(
    ("grammar", "taken", "refused"),
    [
        (SUM, ["4", "4 + 4", "1 * 2 + 30"], ["", "4 +4", "a"]),
        (PATCH, ["*** Begin\n+x\n", "*** Begin\n-\n+y\n*** eNd\n\n"], ["*** Begin\n", "*** Begin\nx\n"]),
        ('start: ["a".."c"] "." /\\/x/', ["b./x", "./x"], ["d./x", "bx/x"]),
    ],
)
def test_what_it_lets_through(grammar: str, taken: list[str], refused: list[str]) -> None:
    pattern = pattern_of(grammar)
    assert all(re.fullmatch(pattern, text) for text in taken)
    assert not any(re.fullmatch(pattern, text) for text in refused)


@pytest.mark.parametrize(
    ("grammar", "reason"),
    [
        ('start: "(" start ")" | "x"', "the rule start refers to itself"),
        ('x: "a"', "there is no rule start"),
        ("start: b", "there is no rule b"),
        ('start: "a"\n%ignore " "', "%ignore is not supported"),
        ('start: "a"\n%import python.NAME', "only %import common.NAME"),
        ("%import common.C_COMMENT\nstart: C_COMMENT", "common.C_COMMENT is not supported"),
        ('start.2: "a"', "the priority of start"),
        ('start: a{"x"}', "the template a"),
        ("start: /a/i", "the flags 'i'"),
        ('start: ("a"', "a bracket is not closed"),
        ('start: "a" )', "a rule must begin where ')' stands"),
        ('start: "a"\nstart: "b"', "start is defined twice"),
        ('start: "\\q"', "the escape q"),
        ('start: "a"~x', "a number must follow"),
        ("start: @", "line 1 cannot be read at '@'"),
        ("start: " + "(" * 100 + '"a"' + ")" * 100, "it is nested too deeply"),
        ('a0: "xxxxxxxx"\n' + "".join(f"a{n + 1}: a{n} a{n}\n" for n in range(40)) + "start: a40", "too large"),
    ],
)
def test_what_has_no_expression(grammar: str, reason: str) -> None:
    with pytest.raises(GrammarRefused, match=re.escape(reason)):
        pattern_of(grammar)
