"""Conversations that show a chat template everything an agent does."""

from typing import Any

from parsers import Tool

Message = dict[str, Any]

WEATHER = Tool(
    "get_weather",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]},
)
NOTE = Tool(
    "write_note",
    'Writes a "note" & <tags>.',
    {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": 'May hold 東京 and "quotes"'},
            "labels": {"type": "array", "items": {"type": "string"}},
            "due": {"type": ["string", "null"]},
        },
    },
)


def call(name: str, arguments: str, call_id: str) -> Message:
    """One call in OpenAI's shape."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str, content: str) -> Message:
    """The tool message that answers it."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


USER: Message = {"role": "user", "content": "What about Oslo?"}
PARIS = call("get_weather", '{"city": "Paris", "days": 2}', "call00001")
ROME = call("get_weather", '{"city": "Rome"}', "call00002")
WILD = call("write_note", '{"text": "a\\n<b> & \\"c\\" 東京 🎉", "labels": ["x", ""], "due": null}', "call00003")

CONVERSATIONS: dict[str, list[Message]] = {
    "plain": [{"role": "user", "content": "Hello"}],
    "system": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
    "turns": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}, USER],
    "call": [
        {"role": "user", "content": "Paris?"},
        {"role": "assistant", "content": None, "tool_calls": [PARIS]},
        result("call00001", '{"sky": "clear"}'),
    ],
    "parallel": [
        {"role": "user", "content": "Paris and Rome?"},
        {"role": "assistant", "content": "", "tool_calls": [PARIS, ROME]},
        result("call00001", "clear"),
        result("call00002", "rain"),
    ],
    "answered": [
        {"role": "user", "content": "Paris?"},
        {"role": "assistant", "content": "I look.", "reasoning_content": "Ask the tool.", "tool_calls": [PARIS]},
        result("call00001", "clear"),
        {"role": "assistant", "content": "It is clear."},
        USER,
    ],
    "wild": [
        {"role": "user", "content": "Note it"},
        {"role": "assistant", "content": "", "reasoning_content": "Write.", "tool_calls": [WILD]},
        result("call00003", "<ok> & done"),
    ],
}
