"""Writing with a proof: a text is given out only if it reads back as the message."""

import json
from collections.abc import Iterable
from typing import Any

from .description import Format
from .errors import UnwritableError
from .fold import fold
from .message import Message, Tool, ToolCall
from .parser import Parser
from .writer import written


def write(fmt: Format, message: Message) -> str:
    """The family's strict text of a message; UnwritableError where none reads back as it.

    That is so for text that spells the family's own markers, for white space at the edge of framing, for values that an
    untyped format cannot hold, and for calls that were cut short.
    """
    text = written(fmt, message)
    parser = Parser(fmt, tools=tools_of(message.tool_calls))
    back = fold(parser.feed(text) + parser.finish("stop"))
    if not same(back, message):
        raise UnwritableError(f"this message has no text in {fmt.name} that reads back as it")
    return text


def same(a: Message, b: Message) -> bool:
    """Whether two messages say the same: text, and calls by name and by the value of their arguments."""
    if (a.content or "", a.reasoning or "") != (b.content or "", b.reasoning or ""):
        return False
    return [_meaning(call) for call in a.tool_calls] == [_meaning(call) for call in b.tool_calls]


def _meaning(call: ToolCall) -> tuple[str, str]:
    try:
        value = json.loads(call.arguments or "{}", parse_float=str, parse_int=str)
    except ValueError:
        return call.name, call.arguments
    return call.name, json.dumps(value, sort_keys=True)


def tools_of(calls: Iterable[ToolCall]) -> list[Tool]:
    """Tools whose schemas say of every argument just the types it has in these calls."""
    properties: dict[str, dict[str, set[str]]] = {}
    for call in calls:
        known = properties.setdefault(call.name, {})
        try:
            arguments = json.loads(call.arguments or "{}")
        except ValueError:
            continue
        for key, value in arguments.items() if isinstance(arguments, dict) else ():
            known.setdefault(key, set()).add(_type(value))
    return [
        Tool(name, parameters={"type": "object", "properties": {key: {"type": sorted(types)} for key, types in keys.items()}})
        for name, keys in properties.items()
    ]


def _type(value: Any) -> str:
    names: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")
