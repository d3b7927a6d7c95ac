"""What events fold into and text is written from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .events import Notice


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call. `arguments` is JSON text: the model's own bytes where it wrote JSON, a raw prefix when not `complete`."""

    name: str
    arguments: str
    id: str | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Message:
    """An assistant's turn without its markup."""

    content: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call. `parameters` is a JSON Schema object; an empty one takes no arguments."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    strict: bool = False

    @classmethod
    def of(cls, tool: "Tool | Mapping[str, Any]") -> "Tool":
        """A Tool from itself or from OpenAI's shape (`{"type": "function", "function": {...}}`, or the flat inner object)."""
        if isinstance(tool, Tool):
            return tool
        inner = tool.get("function")
        spec = inner if isinstance(inner, Mapping) else tool
        return cls(
            name=str(spec.get("name") or ""),
            description=str(spec.get("description") or ""),
            parameters=spec.get("parameters") or {},
            strict=bool(spec.get("strict")),
        )


ToolLike = Tool | Mapping[str, Any]
Tools = Sequence[ToolLike] | None
