"""What every part of one answer has in common, whether it is streamed or whole."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.chat.events import Usage
from gateway.errors import ContextTooLong, GatewayError, LimitError, RequestError

from .tool_set import Target

Json = dict[str, Any]
PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "tool_search_call": "tsc",
    "tool_search_output": "tso",
    "compaction": "cmp",
}
OUR_ITEM = re.compile(r"[a-z]+_([0-9a-f]{24})[0-9a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One answer's identity and the wishes that change how it is written."""

    token: str
    """24 hexadecimal digits, random; all ids of the answer are made from it."""
    created: int
    echo: Json
    """The fields of the answer that the request alone decides."""
    targets: Mapping[str, Target] = field(default_factory=dict)
    """What the client calls each tool."""
    summary: bool = False
    """Thinking is written as the summary that the client asked for."""
    sealed: bool = False
    """Thinking is also given in the form that clients send back."""
    compacts: bool = False
    """What the model says is a summary that takes the conversation's place."""

    @property
    def id(self) -> str:
        return f"resp_{self.token}"

    def item_id(self, kind: str, position: int) -> str:
        """Unique, and the same whether the answer is streamed or whole."""
        return f"{PREFIXES[kind]}_{self.token}{position:02x}"

    def call_id(self, position: int) -> str:
        """What a call's output will name."""
        return f"call_{self.token}{position:02x}"

    def target(self, name: str) -> Target:
        """What the client calls the tool that the model knows by this name."""
        return self.targets.get(name) or Target(name)

    def body(self, status: str, output: Sequence[Json] = (), **more: Any) -> Json:
        """The response object. `more`: usage, error, incomplete_details, completed_at."""
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "completed_at": None,
            "error": None,
            "incomplete_details": None,
            **self.echo,
            "output": list(output),
            "usage": None,
            **more,
        }


def named(items: Sequence[Json], token: str) -> list[Json]:
    """The items with an id each, by which they can be listed and referred to. `token`: as in Shape, of what they came with."""
    return [
        item if isinstance(item.get("id"), str) else {"id": _input_id(item, token, place), **_typed(item)}
        for place, item in enumerate(items)
    ]


def _input_id(item: Json, token: str, place: int) -> str:
    return f"{PREFIXES.get(item.get('type') or 'message', 'item')}_{token}i{place:x}"


def _typed(item: Json) -> Json:
    found = {key: value for key, value in item.items() if key != "id"}
    return found if "type" in found else {"type": "message", **found}


def response_id_of(item_id: str) -> str | None:
    """The response that an item of ours belongs to."""
    match = OUR_ITEM.fullmatch(item_id)
    return f"resp_{match[1]}" if match else None


def usage_object(usage: Usage) -> Json:
    """Tokens spent, as this protocol counts them."""
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


def in_own_words(error: GatewayError) -> GatewayError:
    """The error, about the input where Chat would speak of messages."""
    if isinstance(error, ContextTooLong) or (error.param or "").startswith("messages"):
        error.param = "input"
    return error


def error_object(error: GatewayError) -> Json:
    """A failure inside of a response, in the few codes that there are for it."""
    match error:
        case ContextTooLong():
            code = "context_length_exceeded"
        case LimitError():
            code = "rate_limit_exceeded"
        case RequestError():
            code = "invalid_prompt"
        case _:
            code = "server_error"
    return {"code": code, "message": error.message}
