"""Conversations of every kind that official renderers are compared over: agents' turns with our own names and values."""

import json
from collections.abc import Mapping
from typing import Any

Message = dict[str, Any]

SEARCH: Message = {
    "type": "function",
    "function": {
        "name": "search_flights",
        "description": 'Finds flights; "direct" ones first & <cheapest> next.',
        "parameters": {
            "type": "object",
            "properties": {
                "from": {"type": "string", "description": "Airport code, such as ZÜR"},
                "to": {"type": "string", "enum": ["OSL", "東京", "JFK"]},
                "seats": {"type": "integer", "minimum": 1},
                "refundable": {"type": "boolean"},
                "budget": {"type": ["number", "null"], "description": "In euro"},
                "stops": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
                },
            },
            "required": ["from", "to"],
        },
    },
}
BARE: Message = {
    "type": "function",
    "function": {"name": "ping", "description": "Answers.", "parameters": {"type": "object", "properties": {}}},
}
NOTES: Message = {
    "type": "function",
    "function": {
        "name": "keep_note",
        "description": "Keeps a note.\nTwo lines.",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
            "required": ["text"],
            "additionalProperties": False,
        },
    },
}
TOOLS = [SEARCH, BARE, NOTES]


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str | None, *calls: Message, thought: str | None = None) -> Message:
    """An assistant's message."""
    thinking = {"reasoning_content": thought} if thought is not None else {}
    return {"role": "assistant", "content": text, **thinking, **({"tool_calls": list(calls)} if calls else {})}


def call(number: int, name: str, arguments: Mapping[str, Any]) -> Message:
    written = json.dumps(arguments, ensure_ascii=False)
    return {"id": f"tripid{number:03}", "type": "function", "function": {"name": name, "arguments": written}}


def result(number: int, text: str) -> Message:
    return {"role": "tool", "tool_call_id": f"tripid{number:03}", "content": text}


OSLO = call(1, "search_flights", {"from": "ZÜR", "to": "OSL", "seats": 2, "refundable": False})
TOKYO = call(2, "search_flights", {"from": "OSL", "to": "東京", "budget": None, "stops": [{"at": "HEL"}, {"at": "PEK"}]})
PING = call(3, "ping", {})
NOTE = call(4, "keep_note", {"text": 'He said "é\\n" & <b>\n\ttwo 🎉', "tags": ["x", ""]})
BIG = call(5, "search_flights", {"seats": 9007199254740993, "budget": 1.0, "from": "00123", "to": '{"a": 1}'})

EXCHANGES: dict[str, list[Message]] = {
    "question": [user("Where to?")],
    "system": [system("Be brief."), user("Where to?")],
    "unicode": [system("Sei kurz, naïve 東京 🎉."), user("Où aller?\n\n  Zwei  Leerzeichen\t.")],
    "answered": [user("Hi"), said("Hello!"), user("Where to?")],
    "long": [system("Be brief."), user("a"), said("b"), user("c"), said("d\n\ne"), user("f")],
    "call": [user("To Oslo?"), said("", OSLO), result(1, '{"price": 99.5, "sold": null}')],
    "call without content": [user("To Oslo?"), said(None, OSLO), result(1, "none left")],
    "call and answer": [
        system("Be brief."),
        user("To Oslo?"),
        said("", OSLO),
        result(1, "99"),
        said("For 99."),
        user("And back?"),
    ],
    "parallel": [user("Both?"), said("", OSLO, TOKYO), result(1, "99"), result(2, '["a", "b"]')],
    "parallel and answer": [
        user("Both?"),
        said("", OSLO, TOKYO),
        result(1, "99"),
        result(2, "900"),
        said("99 and 900."),
        user("Ok"),
    ],
    "three calls": [user("All?"), said("", OSLO, PING, NOTE), result(1, "1"), result(3, "pong"), result(4, "kept")],
    "text and call": [user("To Oslo?"), said("I look.", OSLO), result(1, "99")],
    "no arguments": [user("There?"), said("", PING), result(3, "")],
    "every value": [user("Note it"), said("", BIG, NOTE), result(5, 'a "b"\n<c> & d'), result(4, "kept")],
    "two rounds": [
        system("Be brief."),
        user("To Oslo, then on?"),
        said("", OSLO),
        result(1, "99"),
        said("Now on.", TOKYO),
        result(2, "900"),
    ],
    "rounds and turns": [
        user("To Oslo?"),
        said("", OSLO),
        result(1, "99"),
        said("", PING),
        result(3, "pong"),
        said("99, and it answers."),
        user("Keep that."),
        said("Kept soon.", NOTE),
        result(4, "kept"),
        said("Kept."),
        user("Thanks"),
    ],
    "thought": [user("To Oslo?"), said("", OSLO, thought="The user wants a flight."), result(1, "99")],
    "thoughts": [
        user("To Oslo?"),
        said("I look.", OSLO, thought="Look first."),
        result(1, "99"),
        said("", PING, thought="Does it answer?"),
        result(3, "pong"),
    ],
    "earlier thought": [user("Hi"), said("Hello!", thought="A greeting."), user("Where to?")],
    "earlier thoughts and calls": [
        system("Be brief."),
        user("To Oslo?"),
        said("", OSLO, thought="Look first."),
        result(1, "99"),
        said("For 99.", thought="It is 99."),
        user("And back?"),
        said("", PING, thought="Ask again."),
        result(3, "pong"),
    ],
    "two questions": [user("Where to?"), user("And when?")],
    "late system": [system("Be brief."), user("Hi"), said("Hello!"), system("Now be long."), user("Where to?")],
}
