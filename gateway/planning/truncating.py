"""The oldest turns of a conversation are left out until it fits the model's context, where the client wants that."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateway.chat.request import ChatRequest
from gateway.errors import ContextTooLong

Message = Mapping[str, Any]
MARGIN = 1.1
"""How much more is left out than was too much: lengths of texts are only near to numbers of tokens."""
UNKNOWN_SHARE = 0.5
"""How much is left out where nobody says by how much it is too long."""


def shorter(chat: ChatRequest, problem: ContextTooLong) -> ChatRequest | None:
    """The request without its oldest turns; None when there is nothing left that could be left out.

    Instructions at the beginning stay, and so does everything from the user's last message on. A call goes with its results.
    """
    begin, end = _movable(chat.messages)
    cuts = [place for place in range(begin + 1, end + 1) if chat.messages[place]["role"] != "tool"]
    goal = _excess(problem) * sum(map(_length, chat.messages))
    enough = (place for place in cuts if sum(map(_length, chat.messages[begin:place])) >= goal)
    cut = next(enough, cuts[-1] if cuts else None)
    if cut is None:
        return None
    return replace(chat, messages=(*chat.messages[:begin], *chat.messages[cut:]))


def left_out(whole: ChatRequest, chat: ChatRequest) -> ChatRequest:
    """The shortened request, with a warning that tells how much of the whole one it lacks."""
    count = len(whole.messages) - len(chat.messages)
    warning = f"{count} earlier messages were left out to fit the context (truncation)"
    return replace(chat, warnings=(*chat.warnings, warning)) if count else chat


def _movable(messages: Sequence[Message]) -> tuple[int, int]:
    """From the first message behind the instructions to the user's last one."""
    begin = next((place for place, message in enumerate(messages) if message["role"] not in ("system", "developer")), 0)
    end = max((place for place, message in enumerate(messages) if message["role"] == "user"), default=begin)
    return begin, max(begin, end)


def _excess(problem: ContextTooLong) -> float:
    """Which part of the prompt is too much."""
    if problem.tokens is None:
        return UNKNOWN_SHARE
    prompt, context = problem.tokens
    return min(1.0, MARGIN * (prompt - context + 1) / prompt)


def _length(message: Message) -> int:
    return len(str(message.get("content") or "")) + len(str(message.get("tool_calls") or ""))
