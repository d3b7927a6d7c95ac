"""The laws that hold for every family, and for any text at all."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import parsers
from parsers.round_trip import tools_of
from tests.support import order
from tests.support.conserved import all_there
from tests.support.law import LAW
from tests.support.turns import TOOLS, TOOLSETS, cut, messages, openings, prompts, read, turns

UNREAD_LIMIT = 1024
"""Characters that a parser may keep without having read them, whatever arrives, once it knows where the turn begins."""

every_format = pytest.mark.parametrize("name", parsers.names())
finishes = st.sampled_from(("stop", "length"))
lengths = st.lists(st.integers(1, 9), min_size=1, max_size=6)


@every_format
@LAW
@given(data=st.data())
def test_the_events_do_not_depend_on_the_cutting(name: str, data: st.DataObject) -> None:
    fmt, text = parsers.get(name), data.draw(turns(name))
    tools, finish, prompt = data.draw(st.sampled_from(TOOLSETS)), data.draw(finishes), data.draw(prompts(name))
    whole = parsers.normal(read(fmt, [text], tools=tools, finish=finish, **prompt))
    for pieces in (list(text), cut(text, data.draw(lengths))):
        assert parsers.normal(read(fmt, pieces, tools=tools, finish=finish, **prompt)) == whole


@every_format
@LAW
@given(data=st.data())
def test_any_text_gives_events_in_order_and_little_stays_unread(name: str, data: st.DataObject) -> None:
    fmt, text = parsers.get(name), data.draw(turns(name) | st.text(max_size=60))
    opening = data.draw(st.sampled_from(openings(name)))
    parser = parsers.Parser(fmt, tools=data.draw(st.sampled_from(TOOLSETS)), opening=opening, prompt_known=True)
    events: list[parsers.Event] = []
    for piece in cut(text, data.draw(lengths)):
        events += parser.feed(piece)
        assert len(parser.buffer) - parser.at <= UNREAD_LIMIT
    order.check(events + parser.finish(data.draw(finishes)))


@every_format
@LAW
@given(data=st.data())
def test_only_declared_tools_are_called(name: str, data: st.DataObject) -> None:
    fmt, text = parsers.get(name), data.draw(turns(name))
    assert not parsers.fold(read(fmt, [text], tools=())).tool_calls
    declared = {tool.name for tool in TOOLS}
    assert {call.name for call in parsers.fold(read(fmt, [text], tools=TOOLS)).tool_calls} <= declared


@every_format
@LAW
@given(data=st.data())
def test_the_reason_follows_from_the_calls(name: str, data: st.DataObject) -> None:
    fmt, text, engine = parsers.get(name), data.draw(turns(name)), data.draw(st.sampled_from(("stop", "length", "abort")))
    events = read(fmt, [text], tools=data.draw(st.sampled_from(TOOLSETS)), finish=engine)
    calls, finish = parsers.fold(events).tool_calls, events[-1]
    assert isinstance(finish, parsers.Finish)
    if any(not call.complete for call in calls):
        assert finish.reason == "length"
    elif calls and engine == "stop":
        assert finish.reason == "tool_calls"
    else:
        assert finish.reason == engine


# ---- conservation
@every_format
@LAW
@given(data=st.data())
def test_a_turn_without_calls_is_all_there(name: str, data: st.DataObject) -> None:
    fmt, text = parsers.get(name), data.draw(turns(name))
    assert all_there(name, text, read(fmt, [text], tools=()))


@every_format
@LAW
@given(data=st.data())
def test_the_words_around_calls_are_content(name: str, data: st.DataObject) -> None:
    fmt = parsers.get(name)
    message = data.draw(messages(name))
    if not message.tool_calls:
        return
    text = parsers.write(fmt, message)
    assert parsers.fold(read(fmt, [text])).content == message.content


# ---- the round trip
def meaning(message: parsers.Message) -> tuple[object, ...]:
    calls = [(call.name, json.loads(call.arguments), call.complete) for call in message.tool_calls]
    return message.content, message.reasoning, calls


@every_format
@LAW
@given(data=st.data())
def test_what_is_written_reads_back(name: str, data: st.DataObject) -> None:
    fmt, message = parsers.get(name), data.draw(messages(name))
    text = parsers.write(fmt, message)
    back = parsers.fold(read(fmt, [text], tools=tools_of(message.tool_calls)))
    assert meaning(back) == meaning(message)
    assert not back.notices


# ---- the reasons a turn ends for, in a table
@every_format
@pytest.mark.parametrize(("engine", "with_call"), list(product(("stop", "length", "abort", "content_filter"), (True, False))))
def test_a_whole_call_makes_a_stop_tool_calls(name: str, engine: str, with_call: bool) -> None:
    fmt = parsers.get(name)
    calls = (parsers.ToolCall("get_weather", '{"city": "Oslo"}'),) if with_call else ()
    text = parsers.write(fmt, parsers.Message(None if with_call else "Hello.", tool_calls=calls))
    finish = read(fmt, [text], tools=TOOLS, finish=engine)[-1]
    assert finish == parsers.Finish("tool_calls" if engine == "stop" and with_call else engine)
