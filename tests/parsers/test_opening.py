"""A turn whose beginning stands in the prompt: what is read of the rest, wherever the prompt ends."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import parsers
from parsers.readers.text import TextReader
from parsers.round_trip import tools_of
from tests.parsers.test_laws import LAW, every_format, lengths
from tests.support import order
from tests.support.decoders import refusal
from tests.support.turns import cut, messages, read

TOOLS = [parsers.Tool("f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})]


def cuts_a_marker(name: str, opening: str) -> bool:
    """What a prompt ends with is text there, even if it is the beginning of a marker."""
    parser = parsers.Parser(parsers.get(name), prompt_known=True)
    parser.feed(opening)
    return isinstance(parser.reader, TextReader) and parser.at < len(parser.buffer)


def calls(message: parsers.Message) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in message.tool_calls]


@every_format
@LAW
@given(data=st.data())
def test_the_rest_of_a_turn_is_told_and_nothing_of_the_prompt(name: str, data: st.DataObject) -> None:
    fmt, message = parsers.get(name), data.draw(messages(name))
    text, tools = parsers.write(fmt, message), tools_of(message.tool_calls)
    at = data.draw(st.integers(0, len(text)))
    if cuts_a_marker(name, text[:at]):
        return
    told: dict[str, Any] = {"tools": tools, "opening": text[:at]}
    events = read(fmt, [text[at:]], **told)
    order.check(events)
    whole = parsers.normal(events)
    assert parsers.normal(read(fmt, cut(text[at:], data.draw(lengths)), **told)) == whole
    rest = parsers.fold(events)
    found = calls(rest)
    assert found == calls(message)[len(message.tool_calls) - len(found) :]
    assert (message.content or "").endswith(rest.content or "")
    assert (message.reasoning or "").endswith(rest.reasoning or "")


@every_format
def test_a_call_can_follow_a_text_that_has_begun(name: str) -> None:
    fmt = parsers.get(name)
    text = parsers.write(fmt, parsers.Message(tool_calls=(parsers.ToolCall("f", '{"a": "x"}'),)))
    assert calls(parsers.fold(read(fmt, [text], tools=TOOLS, opening="It is"))) == [("f", {"a": "x"})]


@pytest.mark.parametrize(
    ("name", "opening", "rest", "content", "called"),
    [
        ("hermes", "So", " it is.", " it is.", []),
        ("hermes", "a <", " b", " b", []),
        ("hermes", '<tool_call>\n{"name": "f", "argu', 'ments": {"a": "x"}}\n</tool_call>', None, ["x"]),
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {"a": "x', 'y"}}\n</tool_call>', None, ["xy"]),
        ("hermes", "<tool_call>\nnone", " here", " here", []),
        ("llama3_json", '{"na', "ture", "ture", []),
        ("lfm2", "<|tool_call_start|>none", " here", " here", []),
        ("functionary_v32", ">>>", "all\nHello", "Hello", []),
        ("functionary_v32", ">>>", 'f\n{"a": "x"}', None, ["x"]),
        ("functionary_v32", ">>>f", '\n{"a": "x"}', None, ["x"]),
        ("functionary_v32", ">>>a", "ll\nHello", "Hello", []),
        ("llama3_json", '{"name": "f", "parameters": {"a": ', '"x"}}', None, ["x"]),
        ("llama3_json", '{"name": "f", "parameters": ', "oh", "oh", []),
        ("harmony", "<|channel|>final<|message|>So", " it is.<|return|>", " it is.", []),
        ("cohere_command_a", "<|START_TEXT|>So", " it is.<|END_TEXT|>", " it is.", []),
    ],
)
def test_a_turn_goes_on_where_the_prompt_left_it(
    name: str, opening: str, rest: str, content: str | None, called: list[str]
) -> None:
    for pieces in ([rest], list(rest)):
        message = parsers.fold(read(parsers.get(name), pieces, tools=TOOLS, opening=opening))
        assert message.content == content
        assert calls(message) == [("f", {"a": value}) for value in called]


@pytest.mark.parametrize("dialect", ["structural_tag", "lark"])
@pytest.mark.parametrize(
    ("choice", "rest", "allowed"),
    [
        ("required", 'f\n{"a": "x"}', True),
        ("required", 'f\n{"a": "x"}>>>f\n{"a": "y"}', True),
        ("required", '>>>f\n{"a": "x"}', False),
        ("required", "all\nHello", False),
        ("auto", "all\nHello", True),
        ("auto", 'all\nHello>>>f\n{"a": "x"}', True),
        ("auto", 'f\n{"a": "x"}', True),
        ("auto", 'f\n{"a": 1}', False),
        ("auto", 'all\nHello>>>f\n{"a": 1}', False),
    ],
)
def test_a_constraint_goes_on_behind_what_begins_each_message(dialect: str, choice: str, rest: str, *, allowed: bool) -> None:
    found = parsers.constraint(parsers.get("functionary_v32"), TOOLS, choice, dialect=dialect, opening=">>>")
    assert found is not None
    assert (refusal(found, rest) is None) is allowed
