"""What breaks clients, and that no stream of ours does it. Each deviation breaks at least one client that people use."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest

from tests.support import traces
from tests.support.shapes import PROTOCOLS, Turn

Frames = Sequence[Any]


def chunks(frames: Frames) -> list[Any]:
    return [frame for frame in frames if isinstance(frame, dict) and "choices" in frame]


def choices(frames: Frames) -> list[Any]:
    return [choice for chunk in chunks(frames) for choice in chunk["choices"]]


def calls(frames: Frames) -> Iterator[tuple[int, Any]]:
    """Every delta of a call, with its choice."""
    for choice in choices(frames):
        for call in choice["delta"].get("tool_calls", ()):
            yield choice["index"], call


def openings(frames: Frames) -> list[tuple[int, Any]]:
    return [(place, call) for place, call in calls(frames) if "id" in call]


def function(call: Any) -> Any:
    return call.get("function") or call.get("custom")


def failed(frames: Frames) -> bool:
    return any(isinstance(frame, dict) and "error" in frame and "choices" not in frame for frame in frames)


def of(frames: Frames, *kinds: str) -> list[Any]:
    return [frame for frame in frames if frame["type"] in kinds]


def ended_once(frames: Frames) -> bool:
    ends = [choice["index"] for choice in choices(frames) if choice["finish_reason"] is not None]
    return failed(frames) or sorted(ends) == sorted({choice["index"] for choice in choices(frames)})


def indexed_in_order(frames: Frames) -> bool:
    found: dict[int, list[int]] = {}
    for place, call in openings(frames):
        found.setdefault(place, []).append(call["index"])
    return all(places == list(range(len(places))) for places in found.values())


CHAT: dict[str, Callable[[Frames], bool]] = {
    "no_object": lambda frames: all(chunk["object"] == "chat.completion.chunk" for chunk in chunks(frames)),
    "no_choice_index": lambda frames: all(isinstance(choice["index"], int) for choice in choices(frames)),
    "role_missing": lambda frames: choices(frames)[0]["delta"]["role"] == "assistant",
    "role_every": lambda frames: (
        len([choice for choice in choices(frames) if "role" in choice["delta"]])
        == len({choice["index"] for choice in choices(frames)})
    ),
    "same_id": lambda frames: len({call["id"] for _, call in openings(frames)}) == len(openings(frames)),
    "index_from_1": indexed_in_order,
    "index_all_0": indexed_in_order,
    "no_index": lambda frames: all(isinstance(call.get("index"), int) for _, call in calls(frames)),
    "index_null": lambda frames: all(isinstance(call.get("index"), int) for _, call in calls(frames)),
    "type_missing": lambda frames: all(call["type"] in ("function", "custom") for _, call in openings(frames)),
    "id_missing": lambda frames: all(call["id"] for _, call in openings(frames)),
    "id_null": lambda frames: all(call["id"] for _, call in openings(frames)),
    "name_late": lambda frames: all(function(call)["name"] for _, call in openings(frames)),
    "name_split": lambda frames: sum("name" in function(call) for _, call in calls(frames)) == len(openings(frames)),
    "id_every": lambda frames: all(call.keys() == {"index", kind(call)} for _, call in calls(frames) if "id" not in call),
    "idname_every": lambda frames: all("name" not in function(call) for _, call in calls(frames) if "id" not in call),
    "id_name_null_later": lambda frames: all(value is not None for _, call in calls(frames) for value in call.values()),
    "no_finish": ended_once,
    "ping_event": lambda frames: all(frame == "[DONE]" or "choices" in frame or "error" in frame for frame in frames),
}


def kind(call: Any) -> str:
    return "custom" if "custom" in call else "function"


def same_items(frames: Frames, *names: str) -> bool:
    """Whether these fields of each item are the same when it begins, when it ends, and in the response."""
    added = [frame["item"] for frame in of(frames, "response.output_item.added")]
    told = frames[-1]["response"]["output"]
    done = [frame["item"] for frame in of(frames, "response.output_item.done")] or told
    return all(
        one.get(name) == other.get(name)
        for items in (done, told)
        for one, other in zip(added, items, strict=False)
        for name in names
    )


def text_of(item: Any) -> str:
    """What an item says that comes in deltas."""
    match item["type"]:
        case "message" | "reasoning":
            return str((item.get("content") or item["summary"])[0]["text"])
        case "function_call":
            return str(item["arguments"])
        case "custom_tool_call":
            return str(item["input"])
    return ""


def has_deltas(frames: Frames) -> bool:
    """Whether the deltas of each item join to what it says in the end."""
    said: dict[int, str] = {}
    for frame in frames:
        if frame["type"].endswith(".delta"):
            said[frame["output_index"]] = said.get(frame["output_index"], "") + frame["delta"]
    return all(said.get(place, "") == text_of(item) for place, item in enumerate(frames[-1]["response"]["output"]))


def ended(frames: Frames) -> bool:
    return frames[-1]["type"] in ("response.completed", "response.incomplete", "response.failed")


RESPONSES: dict[str, Callable[[Frames], bool]] = {
    "no_created": lambda frames: frames[0]["type"] == "response.created",
    "no_completed": ended,
    "eof": ended,
    "no_item_done": lambda frames: (
        frames[-1]["type"] == "response.failed"
        or len(of(frames, "response.output_item.done")) == len(of(frames, "response.output_item.added"))
    ),
    "final_output_empty": lambda frames: len(frames[-1]["response"]["output"]) == len(of(frames, "response.output_item.added")),
    "no_deltas": has_deltas,
    "error_event": lambda frames: not of(frames, "error"),
    "error_nested": lambda frames: not of(frames, "error"),
    "rid_changes": lambda frames: len({frame["response"]["id"] for frame in frames if "response" in frame}) == 1,
    "id_changes": lambda frames: same_items(frames, "id", "type"),
    "callid_changes": lambda frames: same_items(frames, "call_id", "name"),
}


def blocks_closed(frames: Frames) -> bool:
    opened = [frame["index"] for frame in of(frames, "content_block_start")]
    closed = [frame["index"] for frame in of(frames, "content_block_stop")]
    return frames[-1]["type"] == "error" or opened == closed == list(range(len(opened)))


MESSAGES: dict[str, Callable[[Frames], bool]] = {
    "start_no_usage": lambda frames: frames[0]["message"]["usage"].keys() >= {"input_tokens", "output_tokens"},
    "delta_no_usage": lambda frames: all("output_tokens" in frame["usage"] for frame in of(frames, "message_delta")),
    "no_event_line": lambda frames: True,  # each frame's line is looked at in test_messages_encode.py
    "no_msg_stop": lambda frames: frames[-1]["type"] in ("message_stop", "error"),
    "no_block_stop": blocks_closed,
    "input_str": lambda frames: all(
        frame["content_block"]["input"] == {}
        for frame in of(frames, "content_block_start")
        if frame["content_block"]["type"] == "tool_use"
    ),
}
TABLES = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}
FAILURES = frozenset(
    {"error_data", "error_str", "drop", "detail422", "failed", "error_mid", "http400", "http429", "http529"}
    | {"error_event"}  # on Chat, where an error is one with and without a name
)
"""Failures, which clients are meant to tell: not deviations, and tried in the tests of failures."""
TOLD = frozenset({"incomplete"})
"""What some clients cannot take and must be told all the same: an answer that was cut."""


@pytest.mark.parametrize(
    ("protocol", "deviation", "name"),
    [(protocol, deviation, name) for protocol, table in TABLES.items() for deviation in table for name in PROTOCOLS[protocol][1]],
)
def test_no_stream_deviates(protocol: str, deviation: str, name: str) -> None:
    frames, turns = PROTOCOLS[protocol]
    assert TABLES[protocol][deviation](frames(turns[name]))


def test_calls_come_one_after_the_other() -> None:
    frames, turns = PROTOCOLS["chat"]
    places = [call["index"] for _, call in calls(frames(turns["two calls"]))]
    assert all(after - before in (0, 1) for before, after in pairwise(places))


@pytest.mark.parametrize("protocol", TABLES)
def test_the_tables_find_what_they_are_for(protocol: str) -> None:
    """Every check must be able to fail: on a stream that is cut to its beginning, or whose fields are taken away."""
    frames, _ = PROTOCOLS[protocol]
    turn = Turn(PROTOCOLS[protocol][1]["two calls"].events)
    whole = frames(turn)
    for deviation, check in TABLES[protocol].items():
        if deviation not in ("no_event_line", "error_event", "error_nested"):
            assert any(not _holds(check, broken) for broken in _broken(whole)), deviation


def _holds(check: Callable[[Frames], bool], frames: Frames) -> bool:
    try:
        return check(frames)
    except (AttributeError, IndexError, KeyError, TypeError):
        return False


def _broken(frames: Frames) -> Iterator[list[Any]]:
    """The stream without one of its frames, with one twice, and with one value after the other changed."""
    for place in range(len(frames)):
        yield [*frames[:place], *frames[place + 1 :]]
        yield [*frames[: place + 1], *frames[place:]]
        yield [*frames[:place], {"type": "ping"}, *frames[place:]]
        for other in _changed(frames[place]):
            yield [*frames[:place], other, *frames[place + 1 :]]


def _changed(value: Any) -> Iterator[Any]:
    """The value with one thing in it changed."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield {**value, name: None}
            yield {key: each for key, each in value.items() if key != name}
            for other in _changed(inner):
                yield {**value, name: other}
        yield {**value, "id": "x", "name": "x", "role": "assistant"}
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield [*value[:place], *value[place + 1 :]]
            for other in _changed(inner):
                yield [*value[:place], other, *value[place + 1 :]]
    elif isinstance(value, int):
        yield value + 1
        yield 0


@pytest.mark.skipif(traces.table("compat_matrix.json") is None, reason=traces.ABSENT)
@pytest.mark.parametrize(("section", "protocol"), [("chat", "chat"), ("responses", "responses"), ("anthropic", "messages")])
def test_every_deviation_that_was_seen_to_break_a_client_is_looked_for(section: str, protocol: str) -> None:
    matrix = traces.table("compat_matrix.json")[section]
    breaking = {name for name, clients in matrix.items() if any(found["result"] != "ok" for found in clients.values())}
    assert breaking - TABLES[protocol].keys() - FAILURES - TOLD == set(), json.dumps(sorted(breaking))
