"""Values between tags that are JSON: no string, key or listed value of theirs spells what would end them."""

import json
import re
from itertools import islice, pairwise

import jsonschema_rs
import pytest

import parsers
from parsers.description import TaggedArguments
from parsers.grammars.lark import lark
from parsers.grammars.lark_excluding import Apart
from parsers.grammars.shapes import Json
from parsers.grammars.tree import walk
from tests.support.decoders import refusal, wander
from tests.support.turns import markers

TAGGED = [name for name in parsers.names() if any(isinstance(node, TaggedArguments) for node in walk(parsers.get(name).turn))]
NODE = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "next": {"$ref": "#/$defs/node"}},
    "required": ["text"],
    "additionalProperties": False,
}
VALUES = {
    "names": {"type": "array", "items": {"type": "string", "minLength": 2}},
    "free": {"type": "object"},
    "map": {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
    "keyed": {"type": "object", "patternProperties": {"^x": {"type": ["string", "null"], "pattern": "^.{0,9}$"}}},
    "node": {"$ref": "#/$defs/node"},
    "any": {"type": ["array", "object"]},
}


@pytest.mark.parametrize("name", TAGGED)
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_read_to_its_end(name, dialect, value):
    schema = {"type": "object", "properties": {"v": VALUES[value]}, "required": ["v"], "$defs": {"node": NODE}}
    fmt, tool = parsers.get(name), parsers.Tool("note", parameters=schema)
    constraint = parsers.constraint(fmt, [tool], "required", parallel=False, dialect=dialect)
    turn = parsers.write(fmt, parsers.Message(tool_calls=(parsers.ToolCall("note", '{"v": {"k": "</"}}'),)))
    pieces = ['"', '", "', '": "', '"x', "]", "}", "a", "1", *markers(name), *re.split(r"\W+", turn), turn.rpartition('"}')[2]]
    walks = (wander(constraint, [piece for piece in pieces if piece], seed=seed, longest=600) for seed in range(40))
    turns = list(islice((each for each in walks if each is not None), 4))
    assert turns, "no walk came to an end"
    for found in turns:
        parser = parsers.Parser(fmt, tools=[tool])
        (call,) = parsers.fold(parser.feed(found) + parser.finish("stop")).tool_calls
        assert call.complete, found
        assert jsonschema_rs.validator_for(schema).is_valid(json.loads(call.arguments)), found


@pytest.mark.parametrize("name", ["qwen3_coder", "seed_oss", "mimo", "minimax_m2", "minicpm5", "step3", "dots", "muse"])
@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
def test_no_text_holds_its_closer_with_the_key_in_it(name, dialect):
    """Which the parser reads as the closer: models that write it so must not get to where it is text to the grammar alone."""
    tool = parsers.Tool("note", parameters={"type": "object", "properties": {"v": {"type": "string"}}, "required": ["v"]})
    fmt = parsers.get(name)
    constraint = parsers.constraint(fmt, [tool], "required", parallel=False, dialect=dialect)
    turn = parsers.write(fmt, parsers.Message(tool_calls=(parsers.ToolCall("note", '{"v": "text"}'),)))
    (leaf, *_) = (node for node in walk(fmt.turn) if isinstance(node, TaggedArguments))
    keyed = leaf.keyed_close.replace("{key}", "v")
    assert refusal(constraint, turn.replace("text", f"text {leaf.close.strip()[:-1]}s>")) is None
    assert refusal(constraint, turn.replace("text", f"text{keyed} more")) is not None


@pytest.mark.parametrize(
    ("schema", "let_through", "refused"),
    [
        ({"type": "object"}, ['{"a": ["<", {"k<": 1.5}]}', "{}"], ['{"</a": 1}', '{"a": "</"}', '{"a": [["<p"]]}', "[1]"]),
        (
            {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "number"}}, "required": ["a", "z"]},
            ['{"a": "x<", "z": 1}', '{"a": "x", "n": 1.25, "z": 1}'],
            ['{"a": "</", "z": 1}', '{"a": "x", "z": "</"}'],
        ),
        ({"type": "array", "items": {"enum": ["</b", "ok"]}}, ['["ok"]'], ['["</b"]']),
        ({"type": "object", "patternProperties": {"^x_": {"type": "string"}}}, ['{"x_a": "b"}'], ['{"x_</": "b"}', '{"y": 1}']),
        ({"type": "array", "items": {"type": "string", "format": "uri"}}, ['["http://a.b/c"]'], ['["a b"]']),
        (
            {"type": "array", "items": {"type": ["string", "null"], "format": "ipv4"}},
            ['["1.2.3.4", null]'],
            ['["1.2.3"]', '["<"]', "[1]"],
        ),
        ({"type": "array", "items": {"pattern": "^<?x$"}}, ['["<x", 1, {"a": "<"}]'], ['["</x"]', '[["</"]]', '["y"]']),
        (
            {"type": "object", "properties": {"ab": {"type": "integer"}}, "additionalProperties": {"pattern": "^b"}},
            ['{"ab": 1, "b": "b<"}', '{"a": "b", "abc": "b"}'],
            ['{"ab": "b"}', '{"b": "</"}', '{"</": "b"}', '{"ab</": "b"}', '{"b": "a"}'],
        ),
        (
            {"type": "array", "items": {"$ref": "#/$defs/node"}, "$defs": {"node": NODE}},
            ['[{"text": "<"}]'],
            ['[{"text": "</"}]'],
        ),
    ],
)
def test_llguidance_keeps_texts_out_of_json(schema, let_through, refused):
    grammar = lark(Json(schema, ("</", "<p")))
    assert [refusal(grammar, text) for text in let_through] == [None] * len(let_through)
    assert all(refusal(grammar, text) is not None for text in refused)


@pytest.mark.parametrize("texts", [("</",), ("｜D", "</", "<|"), ("<<", "a"), ("ab", "ba")])
def test_a_pattern_tells_what_holds_none_of_some_texts(texts):
    apart = Apart(texts)
    letters = sorted({*"".join(texts), "x"})
    for text in [one + other + last for one in ("", *letters) for other in letters for last in letters]:
        held = any(each in text for each in texts)
        side_by_side = any(one != other and {one, other} <= {each[0] for each in texts} for one, other in pairwise(text))
        assert bool(re.match(apart.anything(), text)) is not (held or side_by_side), text
        assert bool(re.match(apart.unlike(["x", "xx"]), text)) is (text != "xx" and bool(re.match(apart.anything(), text))), text
