"""The keys of a call's JSON object, and what stands beside its name: models lay the arguments flat there."""

import re

from ..message import Tool
from .values import knows, quoted

KEY = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')[ \t\r\n]*:""", re.DOTALL)
OPEN_KEY = re.compile(r"""(?:"(?:[^"\\]|\\.)*(?:"[ \t\r\n]*|\\)?|'(?:[^'\\]|\\.)*(?:'[ \t\r\n]*|\\)?)\Z""", re.DOTALL)
IDS = frozenset({"id", "call_id", "tool_call_id"})
ARGUMENTS = frozenset({"args", "params", "input", "kwargs", "tool_args", "tool_input"})
NAMES = frozenset({"tool", "tool_name", "function_name"})
"""What models write for the keys of arguments and name, where a marker has said that this is a call."""
FUNCTIONS = frozenset({"function", "function_call"})
ENVELOPE = IDS | {"type", "function", "index"}


def left_out(key: str) -> str:
    """The repair of a call that holds a key which no call has."""
    return f"the key {key[:40]!r} of a call was left out"


class Members:
    """What stands beside name and arguments, until it is known whether it is the arguments."""

    __slots__ = ("_envelope", "_written")

    def __init__(self) -> None:
        self._written: list[tuple[str, str]] = []
        self._envelope: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._written)

    def add(self, key: str, value: str) -> None:
        """A member that a call should not have; the value is JSON text."""
        self._written.append((key, value))

    def add_envelope(self, key: str) -> None:
        """A member that belongs to the call, such as its type."""
        self._envelope.add(key)

    def repairs(self) -> set[str]:
        """What was done where the arguments stand elsewhere."""
        return {left_out(key) for key, _ in self._written}

    def as_arguments(self, tool: Tool | None) -> str | None:
        """The JSON object of all of them, if the tool knows each and nothing else can be meant; else None."""
        keys = [key for key, _ in self._written]
        if len(set(keys)) < len(keys) or not all(knows(tool, key) for key in keys):
            return None
        if any(knows(tool, key) for key in self._envelope):
            return None
        return "{" + ", ".join(f"{quoted(key)}: {value}" for key, value in self._written) + "}"
