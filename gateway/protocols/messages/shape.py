"""What every part of one answer has in common, whether it is streamed or whole."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from gateway.chat.events import Usage
from parsers import ContentDelta, Event, ReasoningDelta, ToolCallArguments, ToolCallEnd, ToolCallStart

SIGNATURE = "dG9vbHdpcmU="
"""Clients drop thinking without a signature from their history. Nobody here reads it."""

STOP_REASONS = {"tool_calls": "tool_use", "length": "max_tokens"}


@dataclass(frozen=True, slots=True)
class Shape:
    """One answer's identity. `token` is random; all ids of the answer are made from it."""

    token: str
    model: str

    @property
    def id(self) -> str:
        return f"msg_{self.token}"

    def call_id(self, index: int) -> str:
        """Unique, and the same whether the answer is streamed or whole."""
        return f"toolu_{self.token[:16]}{index:02x}"


@dataclass(slots=True)
class Block:
    """A stretch of one kind. `text` is what was written in it, of a call the arguments."""

    kind: Literal["text", "thinking", "tool_use"]
    texts: list[str] = field(default_factory=list)
    name: str = ""
    index: int = 0
    complete: bool = True

    @property
    def text(self) -> str:
        return "".join(self.texts)


def blocks(events: Iterable[Event]) -> list[Block]:
    """The events as the blocks that a stream of them would open, in order."""
    found: list[Block] = []
    for event in events:
        match event:
            case ContentDelta(text):
                _last(found, "text").texts.append(text)
            case ReasoningDelta(text):
                _last(found, "thinking").texts.append(text)
            case ToolCallStart(index, name):
                found.append(Block("tool_use", name=name, index=index))
            case ToolCallArguments(_, fragment):
                found[-1].texts.append(fragment)
            case ToolCallEnd(_, complete):
                found[-1].complete = complete
            case _:
                pass
    return found


def _last(found: list[Block], kind: Literal["text", "thinking"]) -> Block:
    if not found or found[-1].kind != kind:
        found.append(Block(kind))
    return found[-1]


def stop_reason(reason: str, stop: str | None) -> str:
    """Why the turn ended, in Anthropic's words. `stop`: the stop sequence that ended it."""
    return STOP_REASONS.get(reason) or ("end_turn" if stop is None else "stop_sequence")


def usage_object(usage: Usage) -> dict[str, Any]:
    """Tokens spent, as Anthropic counts them: what came from the cache is no input."""
    return {
        "input_tokens": max(0, usage.prompt_tokens - usage.cached_tokens),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
    }
