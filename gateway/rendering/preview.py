"""A chat request's prompt without an engine: what `toolwire render` shows."""

from collections.abc import Mapping
from typing import Any

from gateway.chat.history import heal
from gateway.errors import RequestError
from parsers import Tool

from .renderer import Renderer


def preview(renderer: Renderer, request: Mapping[str, Any]) -> dict[str, Any]:
    """`text`, `token_count` (None without a tokenizer), `opening` and `warnings` for a request in OpenAI's Chat shape."""
    messages = request.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, Mapping) and "role" in message for message in messages):
        raise RequestError("`messages` must be a list of objects with a role.", param="messages")
    given = request.get("tools") or []
    if not isinstance(given, list) or not all(isinstance(tool, Mapping) for tool in given):
        raise RequestError("`tools` must be a list of objects as in OpenAI's `tools`.", param="tools")
    healed = heal(messages)
    tools = [Tool.of(tool) for tool in given]
    continues = bool(request.get("continue_final_message"))
    prompt = renderer.render(healed.messages, tools, request.get("chat_template_kwargs"), continues=continues)
    return {
        "text": prompt.text,
        "token_count": None if prompt.token_ids is None else len(prompt.token_ids),
        "opening": prompt.opening,
        "warnings": [*healed.warnings, *prompt.warnings],
    }
