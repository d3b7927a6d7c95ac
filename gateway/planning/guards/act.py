"""What a guard does, and how it speaks to the model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gateway.chat.request import ChatRequest


@dataclass(frozen=True, slots=True)
class Act:
    """What one guard did: its name, the changed request, and what the client is told."""

    guard: str
    request: ChatRequest
    warning: str


def with_note(request: ChatRequest, note: str) -> ChatRequest:
    """The request with a note behind its last message, which all templates show; none where a turn is to be continued."""
    if request.continues or not request.messages:
        return request
    *before, last = request.messages
    return replace(request, messages=(*before, _noted(last, f"[{note}]")))


def _noted(message: Mapping[str, Any], note: str) -> Mapping[str, Any]:
    content = message.get("content")
    if isinstance(content, list | tuple):
        return {**message, "content": [*content, {"type": "text", "text": note}]}
    return {**message, "content": f"{content}\n\n{note}" if content else note}


def since_question(request: ChatRequest) -> int:
    """The place of the user's last message; 0 where there is none."""
    users = [place for place, message in enumerate(request.messages) if message["role"] == "user"]
    return users[-1] if users else 0
