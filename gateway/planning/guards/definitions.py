"""Tool definitions that take more of the prompt than they should."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gateway.chat.request import ChatRequest
from gateway.settings import GuardSettings
from parsers import Tool

from ..tool_search import document, ranked
from .act import Act

CHARACTERS = 4
"""Of a token, about, where no tokenizer tells."""
QUESTIONS = 2
"""So many of the user's last messages are what is searched for."""
LONGEST_QUERY = 4000
Count = Callable[[str], int | None]


def within_budget(request: ChatRequest, bounds: GuardSettings, count: Count) -> Act | None:
    """Reports definitions of too many tokens; shows those only that fit the conversation, where a search is allowed."""
    budget = bounds.tool_tokens
    if budget is None or not request.tools or request.tool_choice.mode == "none":
        return None
    sizes = {tool.name: _tokens(tool, count) for tool in request.tools}
    total = sum(sizes.values())
    if total <= budget:
        return None
    warning = f"the definitions of {len(sizes)} tools have {total} tokens, more than {budget}"
    if not bounds.tool_search:
        return Act("tool_tokens", request, warning)
    kept = _chosen(request, sizes, budget)
    told = f"{warning}; {len(kept)} of them ({sum(sizes[name] for name in kept)} tokens) that fit the conversation are shown"
    return Act("tool_search", _narrowed(request, kept), told)


def _tokens(tool: Tool, count: Count) -> int:
    """What a tool takes in a prompt, as JSON; templates write it more or less so."""
    shown = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    text = json.dumps(shown, ensure_ascii=False, default=str)
    counted = count(text)
    return math.ceil(len(text) / CHARACTERS) if counted is None else counted


def _chosen(request: ChatRequest, sizes: Mapping[str, int], budget: int) -> frozenset[str]:
    """Those that must stay, then those that fit best, then the others as they come, as far as the budget goes."""
    kept = {name for name in _needed(request) if name in sizes}
    left = budget - sum(sizes[name] for name in kept)
    documents = {tool.name: document(tool) for tool in request.tools}
    for name in dict.fromkeys([*ranked(_query(request), documents), *sizes]):
        if name not in kept and (sizes[name] <= left or not kept):
            kept.add(name)
            left -= sizes[name]
    return frozenset(kept)


def _needed(request: ChatRequest) -> Iterator[str]:
    """Tools that the request names, and that the conversation has called."""
    choice = request.tool_choice
    yield from filter(None, (choice.name, *(choice.allowed or ()), *request.pinned))
    for message in request.messages:
        yield from (str((call.get("function") or {}).get("name")) for call in message.get("tool_calls") or ())


def _query(request: ChatRequest) -> str:
    users = [message for message in request.messages if message["role"] == "user"]
    return " ".join(_words_of(message.get("content")) for message in users[-QUESTIONS:])[-LONGEST_QUERY:]


def _words_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text") or "") for part in content or () if isinstance(part, Mapping))


def _narrowed(request: ChatRequest, kept: Iterable[str]) -> ChatRequest:
    places = [place for place, tool in enumerate(request.tools) if tool.name in kept]
    return replace(
        request,
        tools=tuple(request.tools[place] for place in places),
        tool_places=tuple(request.place_of_tool(place) for place in places),
    )
