"""Messages of the wire as plain conversation: calls, results, thinking and text each in their own place."""

import json
from collections.abc import Sequence
from typing import Any

from . import schema as wire
from .text import joined, system_text, text_of
from .validation import missing, validated

Chat = dict[str, Any]

ELSEWHERE = frozenset(
    {
        "compaction",
        "container_upload",
        "fallback",
        "mcp_tool_listing",
        "mcp_tool_use",
        "server_tool_use",
        "tool_addition",
        "tool_removal",
    }
)
"""Blocks of work that was done at Anthropic's; so are all results that are not of type `tool_result`."""

NO_IMAGE = "[an image, which this model cannot see]"


class Conversation:
    """Reads messages one by one; `chat` is what the model shall see of them, `warnings` what it will not."""

    def __init__(self) -> None:
        self.chat: list[Chat] = []
        self.warnings: list[str] = []

    def read_system(self, content: str | list[wire.Block], place: str) -> None:
        """A system prompt, if there is any."""
        if text := system_text(content, place):
            self.chat.append({"role": "system", "content": text})

    def read(self, messages: Sequence[wire.Message]) -> None:
        """All messages."""
        for index, message in enumerate(messages):
            place = f"messages.{index}.content"
            if message.role == "system":
                self.read_system(message.content, place)
                continue
            blocks = [wire.Block(type="text", text=message.content)] if isinstance(message.content, str) else message.content
            if message.role == "user":
                self._user(blocks, place)
            else:
                self._assistant(blocks, place)

    def _user(self, blocks: Sequence[wire.Block], place: str) -> None:
        """Results first, as tool messages; then what the user says."""
        texts: list[str] = []
        before = len(self.chat)
        for at, block in enumerate(blocks):
            here = f"{place}.{at}"
            if block.type == "tool_result":
                self.chat.append(self._result(block, here))
            elif self._known(block):
                texts.append(text_of(block, here))
        if (text := joined(texts)) or len(self.chat) == before:
            self.chat.append({"role": "user", "content": text})

    def _result(self, block: wire.Block, place: str) -> Chat:
        if block.tool_use_id is None:
            raise missing(f"{place}.tool_use_id")
        content = validated(wire.Result, {"content": block.content}, place).content
        if not isinstance(content, str):
            content = joined([self._result_text(part, f"{place}.content.{at}") for at, part in enumerate(content)])
        if block.is_error and not content.lstrip().lower().startswith(("error", "<tool_use_error")):
            content = f"Error: {content}"
        return {"role": "tool", "tool_call_id": block.tool_use_id, "content": content}

    def _result_text(self, part: wire.Block, place: str) -> str:
        """A tool may answer with an image at any time; refusing it would end the session for good."""
        if part.type != "image":
            return text_of(part, place)
        self._warn("images in tool results are not shown to this model")
        return NO_IMAGE

    def _assistant(self, blocks: Sequence[wire.Block], place: str) -> None:
        """One message, also where it comes in several."""
        if not self.chat or self.chat[-1]["role"] != "assistant":
            self.chat.append({"role": "assistant", "content": ""})
        message = self.chat[-1]
        for at, block in enumerate(blocks):
            here = f"{place}.{at}"
            match block.type:
                case "tool_use":
                    message.setdefault("tool_calls", []).append(_call(block, here))
                case "thinking":
                    if block.thinking:
                        message["reasoning_content"] = joined([message.get("reasoning_content", ""), block.thinking])
                case "redacted_thinking":
                    pass  # nobody but Anthropic can read it
                case _ if self._known(block):
                    message["content"] += text_of(block, here)

    def _known(self, block: wire.Block) -> bool:
        """Whether it is a block of the conversation itself, not of tools that ran elsewhere."""
        if block.type in ELSEWHERE or block.type.endswith("_tool_result"):
            self._warn(f"content of type {block.type} was left out")
            return False
        return True

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def _call(block: wire.Block, place: str) -> Chat:
    if block.id is None:
        raise missing(f"{place}.id")
    if block.name is None:
        raise missing(f"{place}.name")
    arguments = block.input if isinstance(block.input, str) else json.dumps(block.input or {}, ensure_ascii=False)
    return {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": arguments or "{}"}}
