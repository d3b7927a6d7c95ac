"""Whether a request is planned faster than a thread could be asked to do it."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from gateway.backends.base import Encodes
from gateway.chat.request import ChatRequest

from .catalog import ModelSpec

MOST_CHARACTERS = 8_000
"""Rendered and made tokens of in about a millisecond."""
OF_A_TOOL = 1_000
"""Characters that a tool's definition usually has."""
OF_A_MESSAGE = 50
"""What the template writes around one, and what it costs to get there."""


def is_light(request: ChatRequest, spec: ModelSpec) -> bool:
    """Whether the plan takes a millisecond or so: there is little to render, no constraint to compile and no engine to ask."""
    if _may_be_constrained(request, spec) or _encodes(type(spec.backend)):
        return False
    left = MOST_CHARACTERS - OF_A_TOOL * len(request.tools)
    for message in request.messages:
        left -= OF_A_MESSAGE + _characters(message)
        if left < 0:
            return False
    return left >= 0


@cache
def _encodes(kind: type) -> bool:
    """Whether engines of a kind are asked for ids. To find that out takes longer than the rest of what is asked here."""
    return issubclass(kind, Encodes)


def _may_be_constrained(request: ChatRequest, spec: ModelSpec) -> bool:
    if request.response_format.kind != "text":
        return True
    one_call_only = not (request.parallel_tool_calls and spec.parallel_calls)
    plain = request.tool_choice.mode in ("auto", "none") and request.tool_choice.allowed is None
    return bool(request.tools) and (one_call_only or not plain or any(tool.strict for tool in request.tools))


def _characters(part: Any) -> int:
    """All text in a message, wherever it stands."""
    if isinstance(part, str):
        return len(part)
    if isinstance(part, Mapping):
        return sum(map(_characters, part.values()))
    return sum(map(_characters, part)) if isinstance(part, (list, tuple)) else 0
