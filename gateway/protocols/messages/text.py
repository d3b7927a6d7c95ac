"""Blocks that a model reads as text."""

import re
from collections.abc import Sequence
from typing import Any

from . import schema as wire
from .validation import missing, validated, wrong

BILLING = re.compile(r"\A\s*x-anthropic-billing-header:[^\n]*\n?")
"""Claude Code begins its system prompt with such a line. It changes with every build and would spoil every prefix cache."""

SEPARATOR = "\n\n"


def system_text(content: str | list[wire.Block], place: str) -> str:
    """A system prompt without the line that is not meant for the model."""
    blocks = [content] if isinstance(content, str) else [text_of(block, f"{place}.{at}") for at, block in enumerate(content)]
    return joined([BILLING.sub("", text) for text in blocks])


def joined(texts: Sequence[str]) -> str:
    """Blocks as one text."""
    return SEPARATOR.join(text for text in texts if text)


def text_of(block: wire.Block, place: str) -> str:
    """A block's text; RequestError for one that has none which this server could show to a model."""
    match block.type:
        case "text":
            if block.text is None:
                raise missing(f"{place}.text")
            return block.text
        case "document":
            return _document(block, place)
        case "search_result":
            return _titled(block.title, parts_text(block.content, f"{place}.content"))
        case "tool_reference":
            return block.tool_name or ""
        case "image":
            raise wrong(place, "Images cannot be shown to this model, which reads text only. Send a description instead.")
        case kind:
            raise wrong(place, f"Content of type '{kind[:100]}' cannot be shown to this model, which reads text only.")


def parts_text(content: Any, place: str) -> str:
    """The text of a block's own content, a string or blocks."""
    inner = validated(wire.Result, {"content": content}, place.removesuffix(".content")).content
    if isinstance(inner, str):
        return inner
    return joined([text_of(block, f"{place}.{at}") for at, block in enumerate(inner)])


def _document(block: wire.Block, place: str) -> str:
    source = validated(wire.Source, block.source, f"{place}.source")
    if source.type != "text" or source.data is None:
        raise wrong(f"{place}.source", f"Documents of type '{source.type}' cannot be shown to this model. Send their text.")
    return _titled(block.title, source.data)


def _titled(title: str | None, text: str) -> str:
    return f"{title}\n{text}" if title else text
