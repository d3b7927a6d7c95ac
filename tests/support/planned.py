"""Requests, and models whose engine is a list of scripted turns, for tests below HTTP."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import parsers
from gateway.backends.replay import ReplayBackend
from gateway.chat.request import ChatRequest, ToolChoice
from gateway.planning.catalog import ModelSpec
from gateway.rendering import Renderer
from parsers import Tool

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "minLength": 1}, "unit": {"enum": ["C", "F"]}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = Tool("get_weather", "Tells the weather.", CITY)
CLOSED = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
STRICT_WEATHER = Tool("get_weather", "Tells the weather.", CLOSED, strict=True)
TIME = Tool("get_time", "Tells the time.", {"type": "object", "properties": {"zone": {"type": "string"}}})


def asked(text: str = "hello", **fields: Any) -> ChatRequest:
    """A request with one user message; a tool choice may be given as a word or, for a named function, as `=name`."""
    choice = fields.pop("choice", None)
    if choice is not None:
        fields["tool_choice"] = ToolChoice("named", choice[1:]) if choice.startswith("=") else ToolChoice(choice)
    return ChatRequest("scripted", ({"role": "user", "content": text},), **fields)


def hermes_call(name: str = "get_weather", arguments: Any = None) -> str:
    """One call as a Hermes model writes it."""
    inner = json.dumps({"name": name, "arguments": {"city": "Paris"} if arguments is None else arguments})
    return f"<tool_call>\n{inner}\n</tool_call>"


def scripted(folder: Path, turns: Sequence[Mapping[str, Any]] | str, **fields: Any) -> ModelSpec:
    """A Hermes model that plays these turns, or this one text. Strict tools may have optional arguments."""
    lines = [{"match": None, "text": turns}] if isinstance(turns, str) else turns
    path = folder / "turns.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return ModelSpec(
        name="scripted",
        format=parsers.get("hermes"),
        renderer=Renderer.load(None, "toolwire/hermes"),
        backend=ReplayBackend(path),
        engine_model="turns",
        **{"strict_policy": "lenient", **fields},
    )
