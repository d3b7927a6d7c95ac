"""Texts of a bounded length: decoders count them as a validator does, and prepare few states for them."""

import json
import re
from itertools import product

import jsonschema_rs
import pytest

import parsers
from parsers.description import ElementArguments, QuotedArguments, TaggedArguments
from parsers.grammars import json_tag
from parsers.grammars.tree import walk
from tests.support.decoders import TagDecoder, decoder, refusal

UNQUOTED = [
    name
    for name in parsers.names()
    if any(isinstance(node, TaggedArguments | QuotedArguments | ElementArguments) for node in walk(parsers.get(name).turn))
]
LENGTHS = [{"minLength": 1}, {"minLength": 9}, {"maxLength": 3}, {"maxLength": 40}, {"minLength": 140, "maxLength": 150}]
LETTERS = [letter.encode() for letter in (*"a. <'\"\\\n\x07", "é", "日", "\ue000")]
PIECES = tuple(b"".join(letters) for count in (2, 3) for letters in product(LETTERS, repeat=count))
"""Tokens as no vocabulary lacks: some of their characters may be allowed and others not."""
TEXTS = ["", "a", "été", "a b\nc", "x" * 9, "日" * 40, "y" * 41, "a\nb" * 48, "z" * 150, "z" * 151]


def tool_for(said):
    schema = {"type": "object", "properties": {"a": {"type": "string", **said}}, "required": ["a"], "additionalProperties": False}
    return parsers.Tool("note", parameters=schema)


@pytest.mark.parametrize("name", UNQUOTED)
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
@pytest.mark.parametrize("said", LENGTHS, ids=str)
def test_texts_without_quotes_are_counted(name, dialect, said):
    fmt, tool = parsers.get(name), tool_for(said)
    tag = parsers.constraint(fmt, [tool], "required", dialect=dialect)
    validator = jsonschema_rs.validator_for(dict(tool.parameters))
    for text in TEXTS:
        arguments = {"a": text}
        try:
            turn = parsers.write(
                fmt, parsers.Message(tool_calls=(parsers.ToolCall("note", json.dumps(arguments, ensure_ascii=False)),))
            )
        except parsers.UnwritableError:
            continue
        assert (refusal(tag, turn) is None) == validator.is_valid(arguments), text


@pytest.mark.parametrize("most", [100, 5000])
def test_llguidance_does_not_give_up_on_a_long_text(most):
    fmt, text = parsers.get("qwen3_coder"), ("ab cd\n" * 100)[: most // 2]
    decoding = decoder(parsers.constraint(fmt, [tool_for({"maxLength": most})], "required", dialect="lark"))
    turn = parsers.write(fmt, parsers.Message(tool_calls=(parsers.ToolCall("note", json.dumps({"a": text})),)))
    assert all(byte in decoding.allowed() and decoding.take(byte) for byte in turn.encode())


@pytest.mark.parametrize("name", parsers.names())
def test_whole_tokens_are_masked_as_they_are_taken(name):
    fmt = parsers.get(name)
    turn = parsers.write(fmt, parsers.Message(tool_calls=(parsers.ToolCall("note", json.dumps({"a": "x" * 9})),)))
    before = turn[: turn.index("x" * 9)].encode()
    for said in LENGTHS:
        decoding = TagDecoder(json.dumps(parsers.constraint(fmt, [tool_for(said)], "required")), PIECES)
        assert all(map(decoding.take, before))
        for letter in b"xyzx":
            assert decoding.takes() == decoding.allowed()
            if not decoding.take(letter):
                break


def test_what_ends_a_text_is_not_begun_by_what_is_counted():
    fmt = parsers.get("qwen3_coder")
    turn = parsers.write(fmt, parsers.Message(tool_calls=(parsers.ToolCall("note", '{"a": "VALUE"}'),)))
    for least in (1, 2, 7):
        tag = parsers.constraint(fmt, [tool_for({"minLength": least})], "required")
        for inside, allowed in (("wxyz\nv and more", True), ("x" * (least - 1) + "\n<parameter=b>", False)):
            assert (refusal(tag, turn.replace("VALUE", inside)) is None) is allowed, inside


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "minimax_m3"])
def test_a_text_that_is_longer_than_it_may_be_is_refused(name):
    with pytest.raises(parsers.ConstraintError, match="minLength 6 is greater than maxLength 4"):
        parsers.constraint(parsers.get(name), [tool_for({"minLength": 6, "maxLength": 4})], "required")
    assert refusal(json_tag({"anyOf": [{"type": "string", "minLength": 6, "maxLength": 4}, {"type": "null"}]}), "null") is None
    assert refusal(json_tag({"type": "object", "propertyNames": {"minLength": 6, "maxLength": 4}}), "{}") is None


def test_escaped_halves_of_a_character_are_not_counted_as_two():
    tag = json_tag({"type": "string", "minLength": 2, "maxLength": 9})
    assert refusal(tag, r'"\ud83d\ude00"') is not None
    assert refusal(tag, r'"\u00e9\n"') is None


def reading_rules(schema):
    grammar = json_tag(schema)["format"]["grammar"]
    return len([line for line in grammar.splitlines() if re.search(r"(?<!\\)\[(?!\^\\u0000)", line)])


@pytest.mark.parametrize("said", [{}, {"minLength": 200}, {"pattern": "^.*$"}])
def test_longer_texts_need_no_more_rules_that_read_characters(said):
    schema = {"type": "string", **said}
    assert reading_rules({**schema, "maxLength": 4000}) == reading_rules({**schema, "maxLength": 400}) < 12
