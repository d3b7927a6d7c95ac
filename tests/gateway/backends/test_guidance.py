"""Lark text for llama.cpp: control tokens by id, everything else untouched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.guidance import HEADER, grammar_for, with_token_ids
from gateway.chat.plan import Constraint
from gateway.errors import ResponseSchemaInvalid, SettingsError, ToolSchemaInvalid

CONTROL = {"<|a|>": 7, "[CALL]": 9, "<|a|>b": 8}


@pytest.mark.parametrize(
    ("lark", "expected"),
    [
        ('start: "<|a|>x" y', 'start: (<[7]> "x") y'),
        ('start: "x[CALL]"+ ', 'start: ("x" <[9]>)+ '),
        ('start: "[CALL]"', "start: (<[9]>)"),
        ('start: "<|a|>b"', "start: (<[8]>)"),
        ('start: "q\\"<|a|>\\\\" "<|a|>"', 'start: ("q\\"" <[7]> "\\\\") (<[7]>)'),
        ('start: %json {"const": "<|a|>", "x": "}"} "<|a|>"', 'start: %json {"const": "<|a|>", "x": "}"} (<[7]>)'),
        ('start: /"<|a|>"/ "n"', 'start: /"<|a|>"/ "n"'),
        ('start: T // "<|a|>"\nT: "<|a|>"\n', 'start: T // "<|a|>"\nT: "<|a|>"\n'),
        ('start: "plain"', 'start: "plain"'),
        ('start: until\nuntil[lazy]: TEXT "<|a|>"', "start: until\nuntil: TEXT <[7]>"),
        ('until[lazy]: TEXT "\\n<|a|>x[CALL]"', 'UNTIL: TEXT "\\n"\nuntil: UNTIL <[7]> ("x" <[9]>)'),
        ('until[lazy]: TEXT "plain"', 'until[lazy]: TEXT "plain"'),
    ],
)
def test_control_tokens_become_ids(lark, expected):
    assert with_token_ids(lark, CONTROL) == expected


@given(st.text(alphabet='ab"\\/<|>[]CAL \n{}:%json', max_size=40))
def test_without_control_tokens_nothing_changes(text):
    assert with_token_ids(text, {}) == text


def test_each_kind_becomes_lark():
    assert grammar_for(Constraint("lark", HEADER + 'start: "a"'), {}) == HEADER + 'start: "a"'
    assert grammar_for(Constraint("json_object", None), {}).startswith(HEADER + 'start: %json {"type": "object", "x-guidance"')
    assert '"item_separator": ", "' in grammar_for(Constraint("json_schema", {"type": "string"}), {})


def test_the_tokens_that_end_a_turn_are_part_of_its_grammar():
    constraint = Constraint("lark", 'start: "a" PART\nPART: "<|a|>"')
    assert grammar_for(constraint, CONTROL, ends=("[CALL]", "</s>", "<|a|>")) == (
        HEADER + 'start: turn (<[9]> | <[7]>)\nturn: "a" PART\nPART: "<|a|>"'
    )
    assert grammar_for(constraint, CONTROL, ends=("</s>",)) == HEADER + str(constraint.value)


@pytest.mark.parametrize(
    ("constraint", "error", "told"),
    [
        (Constraint("lark", "start: nowhere"), ToolSchemaInvalid, "nowhere"),
        (Constraint("json_schema", {"type": "strange"}), ResponseSchemaInvalid, "strange"),
        (Constraint("json_schema", {"not": {"type": "string"}}), ResponseSchemaInvalid, "not"),
        (Constraint("structural_tag", {}), SettingsError, "lark"),
    ],
)
def test_what_llama_cpp_would_silently_drop_is_refused(constraint, error, told):
    with pytest.raises(error, match=told):
        grammar_for(constraint, {})


def test_counts_that_would_end_the_process_are_left_out():
    """llama.cpp's llguidance builds a state for each counted item, until there is no memory left."""
    schema = {"type": "array", "items": {"type": "array", "minItems": 10**9}, "maxItems": 10**9, "minItems": 2}
    text = grammar_for(Constraint("json_schema", schema), {})
    assert str(10**9) not in text
    assert '"minItems": 2' in text
    assert f'"const": {10**9}' in grammar_for(Constraint("json_schema", {"const": 10**9}), {})
