"""Events fold into the message that they describe."""

import parsers
from parsers import (
    ContentDelta,
    Finish,
    Message,
    Notice,
    ReasoningDelta,
    ToolCall,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    fold,
    normal,
)
from tests.support.turns import read


def test_deltas_join_and_calls_keep_their_order() -> None:
    notice = Notice("repaired", "x")
    events = [
        ReasoningDelta("a"),
        ReasoningDelta("b"),
        ContentDelta("c"),
        ToolCallStart(0, "f", "id0"),
        ToolCallArguments(0, '{"x"'),
        ToolCallArguments(0, ": 1}"),
        notice,
        ToolCallEnd(0),
        ContentDelta("d"),
        ToolCallStart(1, "g"),
        ToolCallEnd(1),
        ToolCallStart(2, "h"),
        ToolCallArguments(2, "{"),
        ToolCallEnd(2, complete=False),
        Finish("length"),
    ]
    calls = (ToolCall("f", '{"x": 1}', "id0"), ToolCall("g", "{}"), ToolCall("h", "{", complete=False))
    assert fold(events) == Message("cd", "ab", calls, (notice,))
    assert normal(events)[:3] == [ReasoningDelta("ab"), ContentDelta("c"), ToolCallStart(0, "f", "id0")]


def test_text_that_never_came_is_none() -> None:
    assert fold([Finish("stop")]) == Message()


def test_an_id_behind_the_arguments_belongs_to_its_call_alone() -> None:
    text = '[TOOL_CALLS] [{"name": "f", "arguments": {}, "id": "abcdefghi"}, {"name": "g", "arguments": {}}]'
    for pieces in ([text], list(text)):
        message = parsers.fold(read(parsers.get("mistral"), pieces))
        assert [(call.name, call.id) for call in message.tool_calls] == [("f", "abcdefghi"), ("g", None)]
