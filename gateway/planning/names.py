"""Names of properties that a model's format cannot write: no call with them could be read."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache

import parsers
from parsers import Format, Message, Tool, ToolCall, UnwritableError

from .strict_rules import nodes
from .unheld import nested_keys

ORDINARY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def unwritable(tool: Tool, fmt: Format) -> tuple[str, ...] | None:
    """The place of the first such name; None when there is none."""
    return next((path for path, name in _names(tool, fmt) if not ORDINARY.fullmatch(name) and not _writes(fmt, name)), None)


def _names(tool: Tool, fmt: Format) -> Iterator[tuple[tuple[str, ...], str]]:
    for path, node in nodes(tool.parameters):
        if not path or nested_keys(fmt):
            declared = node.get("properties") if isinstance(node, dict) else None
            yield from (((*path, "properties", name), name) for name in declared or ())


@lru_cache(maxsize=4096)
def _writes(fmt: Format, name: str) -> bool:
    """Whether a call with this name reads back as it was written."""
    call = ToolCall("probe", json.dumps({name: "value"}, ensure_ascii=False))
    try:
        parsers.write(fmt, Message(tool_calls=(call,)))
    except UnwritableError:
        return False
    return True
