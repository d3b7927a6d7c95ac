"""A turn that is cut anywhere: no call in it counts as whole that has not all of its arguments."""

import json

import pytest

import parsers
from parsers import Message, Tool, ToolCall, UnwritableError

ARGUMENTS = {"city": "Oslo", "days": 3}
TOOL = Tool("look_up", parameters={"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}})
CALL = ToolCall("look_up", json.dumps(ARGUMENTS))


@pytest.mark.parametrize("name", parsers.names())
def test_no_call_is_whole_before_its_arguments_are(name):
    fmt = parsers.get(name)
    try:
        turn = parsers.write(fmt, Message(tool_calls=(CALL, CALL)))
    except UnwritableError:
        turn = parsers.write(fmt, Message(tool_calls=(CALL,)))
    for cut in range(len(turn)):
        parser = parsers.Parser(fmt, tools=(TOOL,), prompt_known=True)
        message = parsers.fold(parser.feed(turn[:cut]) + parser.finish("length"))
        for call in message.tool_calls:
            assert not call.complete or json.loads(call.arguments) == ARGUMENTS, turn[:cut]
