"""What passes unread leaves the parser as it is, in every family: whoever skips it sees the same turn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import parsers
from parsers.automaton import reachable
from parsers.description import ElementArguments, PythonCall, QuotedArguments
from parsers.parser import compiled
from parsers.passage import Passage
from tests.support.law import LAW
from tests.support.turns import TOOLS, TOOLSETS, cut, turns

WORDS = 'a| word|to=functions.f|assistant|call:|Action| |{|[f(|<|</|`|,|]]>|"|\n|\\n|\\"|\\|\\u00e9|\xa0|\u3000|é|雨'.split("|")
words = st.sampled_from([*WORDS, "|", "'"])
pieces_of_text = st.lists(words, min_size=1, max_size=4).map("".join)


def reads_values_whole(fmt: parsers.Format) -> bool:
    """Whether the arguments of its calls are in another notation than JSON, and so never pass as they are written."""
    leaves = (position.leaf for position in reachable(compiled(fmt)))
    return any(isinstance(leaf, ElementArguments | PythonCall | QuotedArguments) for leaf in leaves)


def delta(passage: Passage, text: str, index: int) -> parsers.Event:
    if passage.kind is parsers.ToolCallArguments:
        return parsers.ToolCallArguments(index, text)
    return parsers.ContentDelta(text) if passage.kind is parsers.ContentDelta else parsers.ReasoningDelta(text)


@pytest.mark.parametrize("name", parsers.names())
@LAW
@given(data=st.data())
def test_what_passes_need_not_be_fed(name: str, data: st.DataObject) -> None:
    fmt, turn = parsers.get(name), data.draw(turns(name))
    tools = data.draw(st.sampled_from(TOOLSETS))
    fed, spared = (parsers.Parser(fmt, tools=tools, prompt_known=True) for _ in range(2))
    index = -1
    for piece in cut(turn, data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))):
        events = fed.feed(piece)
        assert spared.feed(piece) == events
        index += sum(isinstance(event, parsers.ToolCallStart) for event in events)
        passage = spared.passage()
        if passage is None:
            continue
        texts = list(filter(passage.pattern.fullmatch, data.draw(st.lists(pieces_of_text, max_size=4))))
        events = []
        for text in texts:
            events += fed.feed(text)
            left = fed.passage()
            assert left is not None
            assert (left.kind, left.pattern) == (passage.kind, passage.pattern)
        together = data.draw(st.integers(1, 4))
        passed = [text for at in range(0, len(texts), together) for text in passage.passed(texts[at : at + together])]
        assert events == [delta(passage, text, index) for text in passed]
        if passage.kind is parsers.ContentDelta:
            spared.content.extend(passed)
    reason = data.draw(st.sampled_from(("stop", "length")))
    assert spared.finish(reason) == fed.finish(reason)


@pytest.mark.parametrize("name", parsers.names())
def test_long_texts_and_long_strings_pass(name: str) -> None:
    fmt = parsers.get(name)
    call = parsers.ToolCall(TOOLS[0].name, '{"city": "Paris"}')
    turn = parsers.write(fmt, parsers.Message(content="Hello there", tool_calls=(call,)))
    parser = parsers.Parser(fmt, tools=TOOLS, prompt_known=True)
    kinds = set()
    for character in turn:
        parser.feed(character)
        if (passage := parser.passage()) is not None and passage.pattern.fullmatch("x"):
            kinds.add(passage.kind)
    assert parsers.ContentDelta in kinds
    assert parsers.ToolCallArguments in kinds or reads_values_whole(fmt)
