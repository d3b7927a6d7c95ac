"""Recorded streams of other servers: where they are, the turns that they tell, and how ours must cover them.

A folder of `chat_chunks.jsonl`, `responses_events.jsonl` and `anthropic_events.jsonl`, one frame a line with its scenario; with
`errors.json` and `events.json` beside them.
"""

import json
import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from gateway.protocols.responses.tool_set import Target
from parsers import ContentDelta, Event, Finish, ReasoningDelta, ToolCallArguments, ToolCallEnd, ToolCallStart
from tests.support.shapes import KEPT, Turn

CHECKOUT = Path(__file__).parents[2]
VARIABLE = "TOOLWIRE_WIRE"
ABSENT = (
    f"no recorded streams: {VARIABLE} names no folder with chat_chunks.jsonl, responses_events.jsonl and anthropic_events.jsonl"
)
FILES = {"chat": "chat_chunks.jsonl", "responses": "responses_events.jsonl", "messages": "anthropic_events.jsonl"}
ELSEWHERE = {"refusal": "models here refuse in words; no refusal is told apart from content"}
"""Scenarios that cannot happen here, and why."""
NO_DELTA = {"type": "input_json_delta", "partial_json": ""}
CUT = {"length": "length", "max_tokens": "length", "tool_calls": "tool_calls", "tool_use": "tool_calls"}


def folder() -> Path | None:
    """Where the streams are: what the environment names, or a folder beside the checkout."""
    named = os.environ.get(VARIABLE)
    places = [Path(named)] if named else [CHECKOUT.parent / "shared" / "wire", CHECKOUT.parent / "wire"]
    return next((place for place in places if all((place / name).is_file() for name in FILES.values())), None)


def scenarios(protocol: str) -> dict[str, list[Any]]:
    """The frames of each scenario, without signs of life; none where there is no folder."""
    home = folder()
    found: dict[str, list[Any]] = {}
    for line in (home / FILES[protocol]).read_text(encoding="utf-8").splitlines() if home else ():
        entry = json.loads(line)
        frames = found.setdefault(entry["scenario"], [])
        if not (isinstance(entry["data"], dict) and entry["data"].get("type") == "ping"):
            frames.append(entry["data"])
    return found


def table(name: str) -> Any:
    """One of the tables beside the streams; None where there is none."""
    home = folder()
    file = home / name if home else None
    return json.loads(file.read_text(encoding="utf-8")) if file is not None and file.is_file() else None


def chat_turn(frames: Sequence[Any]) -> Turn:
    """The turn that these chunks tell."""
    chunks = [frame for frame in frames if isinstance(frame, dict) and "choices" in frame]
    ours = [choice for chunk in chunks for choice in chunk["choices"] if choice["index"] == 0]
    events: list[Event] = []
    wishes: dict[str, Any] = {"include_usage": any("usage" in chunk for chunk in chunks)}
    for choice in ours:
        events += _of_delta(choice["delta"], events, wishes)
        if choice["finish_reason"] is not None:
            wishes["named"] = choice["finish_reason"] == "stop" and _calls(events)
            reason = "tool_calls" if wishes["named"] or wishes.get("legacy") else CUT.get(choice["finish_reason"], "stop")
            events += [*_ended(events, complete=reason != "length"), Finish(reason)]
    choices = 1 + max(choice["index"] for chunk in chunks for choice in chunk["choices"])
    told = any(choice.get("logprobs") for choice in ours)
    return Turn(events, wishes, any("error" in frame for frame in frames), choices, told)


def _of_delta(delta: Any, before: Sequence[Event], wishes: dict[str, Any]) -> Iterator[Event]:
    if delta.get("content"):
        yield ContentDelta(delta["content"])
    if delta.get("reasoning"):
        yield ReasoningDelta(delta["reasoning"])
    legacy = [{"index": 0, "function": delta["function_call"]}] if "function_call" in delta else []
    if legacy:
        wishes["legacy"] = True
    for call in [*(delta.get("tool_calls") or ()), *legacy]:
        kind = "custom" if "custom" in call else "function"
        said = call[kind]
        if "name" in said:
            yield from _ended(before, complete=True)
            yield ToolCallStart(call["index"], said["name"])
            if kind == "custom":
                wishes["custom"] = frozenset({said["name"]})
                yield ToolCallArguments(call["index"], '{"input": "')
        text = said.get("arguments" if kind == "function" else "input")
        if text:
            yield ToolCallArguments(call["index"], text if kind == "function" else json.dumps(text)[1:-1])


def responses_turn(frames: Sequence[Any]) -> Turn:
    """The turn that these events tell."""
    events: list[Event | None] = []
    asked = frames[0]["response"]
    wishes: dict[str, Any] = {"background": asked["background"], "tools": asked["tools"], "targets": {}}
    calls, found = 0, []
    for frame in frames:
        kind = frame["type"].removeprefix("response.")
        match kind:
            case "output_text.delta":
                events.append(ContentDelta(frame["delta"]))
            case "reasoning_text.delta" | "reasoning_summary_text.delta":
                wishes["summary"] = kind.startswith("reasoning_summary")
                events.append(ReasoningDelta(frame["delta"]))
            case "output_item.done" if frame["item"]["type"] == "tool_search_output":
                events.append(None)
                found = frame["item"]["tools"]
            case "output_item.done" if "call" in frame["item"]["type"]:
                events += _of_item(frame["item"], calls, wishes)
                calls += 1
            case "completed" | "incomplete":
                events.append(Finish("length" if kind == "incomplete" else "tool_calls" if calls else "stop"))
    return Turn(events, wishes, frames[-1]["type"] == "response.failed", found=found)


def _of_item(item: Any, index: int, wishes: dict[str, Any]) -> list[Event]:
    """A call, of which only the end is read: its arguments come as one delta."""
    match item["type"]:
        case "custom_tool_call":
            target, text = Target(item["name"], kind="custom"), json.dumps({"input": item["input"]})
        case "tool_search_call":
            server = item["execution"] == "server"
            target = Target("tool_search", kind="server_search" if server else "client_search")
            text = json.dumps(item["arguments"])
        case _:
            target, text = Target(item["name"], item.get("namespace")), item["arguments"]
    name = f"tool{index}"
    wishes["targets"][name] = target
    return [ToolCallStart(index, name), ToolCallArguments(index, text), ToolCallEnd(index, True)]


def messages_turn(frames: Sequence[Any]) -> Turn:
    """The turn that these events tell."""
    events: list[Event] = []
    calls = 0
    for frame in frames:
        block, delta = frame.get("content_block", {}), frame.get("delta", {})
        match block.get("type") or delta.get("type"):
            case "tool_use":
                events.append(ToolCallStart(calls, block["name"]))
                calls += 1
            case "text_delta":
                events.append(ContentDelta(delta["text"]))
            case "thinking_delta":
                events.append(ReasoningDelta(delta["thinking"]))
            case "input_json_delta" if delta["partial_json"]:
                events.append(ToolCallArguments(calls - 1, delta["partial_json"]))
        if frame["type"] == "content_block_stop":
            events += _ended(events, complete=True)
        if frame["type"] == "message_delta":
            events.append(Finish(CUT.get(delta["stop_reason"], "stop")))
    return Turn(events, {}, frames[-1]["type"] == "error")


def _calls(events: Sequence[Event]) -> bool:
    return any(isinstance(event, ToolCallStart) for event in events)


def _ended(events: Sequence[Event], *, complete: bool) -> list[Event]:
    """The end of the call that is open, if one is."""
    kinds = [event for event in events if isinstance(event, ToolCallStart | ToolCallEnd)]
    return [ToolCallEnd(kinds[-1].index, complete)] if kinds and isinstance(kinds[-1], ToolCallStart) else []


def kind_of(frame: Any) -> str:
    """What kind of frame it is, and of which block, item or choice."""
    if not isinstance(frame, dict):
        return str(frame)
    if "choices" in frame:
        choices = [(choice["index"], choice["finish_reason"], _said(choice["delta"])) for choice in frame["choices"]]
        return f"chunk {choices}"
    place = frame.get("output_index", frame.get("index", ""))
    inner = (frame.get("delta") or {}).get("type", "") if isinstance(frame.get("delta"), dict) else ""
    return f"{frame.get('type', 'error')} {place} {inner}".strip()


def _said(delta: Any) -> list[str]:
    """Which fields of a delta say something."""
    return sorted(name for name, value in delta.items() if value not in (None, "") and name != "refusal")


def collapsed(frames: Sequence[Any]) -> list[Any]:
    """The last of all frames of one kind that follow one another. A delta that says nothing may be there or not."""
    saying = [frame for frame in _joined(frames) if not (isinstance(frame, dict) and frame.get("delta") == NO_DELTA)]
    return [list(group)[-1] for _, group in groupby(saying, kind_of)]


def _joined(frames: Sequence[Any]) -> list[Any]:
    """The frames; a legacy call may be opened together with the role or behind it."""
    match frames:
        case [
            {"choices": [{"delta": {"role": _} as role} as choice]} as first,
            {"choices": [{"delta": {"function_call": _} as call}]},
            *rest,
        ]:
            return [{**first, "choices": [{**choice, "delta": {**role, **call}}]}, *rest]
    return list(frames)


def uncovered(ours: Any, theirs: Any, place: str = "") -> Iterator[str]:
    """Where ours lacks something that theirs tells. Values count only where they tell what a frame is."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name, value in theirs.items():
            if name not in ours:
                yield f"{place}.{name} is missing"
            else:
                yield from uncovered(ours[name], value, f"{place}.{name}")
    elif isinstance(theirs, list) and isinstance(ours, list):
        if len(ours) != len(theirs) and not place.endswith(".bytes"):
            yield f"{place} has {len(ours)} entries, not {len(theirs)}"
        for number, (one, other) in enumerate(zip(ours, theirs, strict=False)):
            yield from uncovered(one, other, f"{place}[{number}]")
    elif place.rpartition(".")[2] in KEPT and ours != theirs and not place.startswith(".error"):
        yield f"{place} is {ours!r}, not {theirs!r}"
