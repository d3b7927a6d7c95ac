"""The order law of events, as a table: what may follow what."""

import json
from collections.abc import Iterable

import parsers

FOLLOWS: dict[str, dict[type, str]] = {
    "outside": {
        parsers.ReasoningDelta: "outside",
        parsers.ContentDelta: "outside",
        parsers.Notice: "outside",
        parsers.ToolCallStart: "call",
        parsers.Finish: "over",
    },
    "call": {parsers.ToolCallArguments: "call", parsers.Notice: "call", parsers.ToolCallEnd: "outside"},
    "over": {},
}


def check(events: Iterable[parsers.Event]) -> None:
    """Assert `(Reasoning | Content | Start Arguments* End)* Finish`, with indices 0, 1, 2 ...

    No delta is empty, and the arguments of a whole call are a JSON object.
    """
    state = "outside"
    calls: list[str] = []
    for event in events:
        assert type(event) in FOLLOWS[state], f"{event} may not stand {state}"
        state = FOLLOWS[state][type(event)]
        match event:
            case parsers.ContentDelta(text) | parsers.ReasoningDelta(text):
                assert text, "an empty delta"
            case parsers.ToolCallStart(index, name, _):
                assert index == len(calls), "indices count 0, 1, 2 ..."
                assert name, "a call without a name"
                calls.append("")
            case parsers.ToolCallArguments(index, fragment):
                assert index == len(calls) - 1, "arguments of another call"
                assert fragment, "an empty fragment"
                calls[index] += fragment
            case parsers.ToolCallEnd(index, complete):
                assert index == len(calls) - 1, "the end of another call"
                assert not complete or isinstance(json.loads(calls[index] or "{}"), dict)
    assert state == "over", "no Finish"
