"""Tool results that are longer than the model should read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateway.chat.request import ChatRequest
from gateway.settings import GuardSettings

from .act import Act

NOTICE = "\n[... {cut} of this result's {total} characters were left out here ...]\n"
LINE = 10
"""A cut moves to the end of a line that is no farther away than this part of what is left."""
MOST_TOLD = 5


def with_short_results(request: ChatRequest, bounds: GuardSettings) -> Act | None:
    """Takes the middle out of long results. The same result is always cut in the same way, so that prompts begin alike."""
    most = bounds.result_characters
    if most is None:
        return None
    cut = {place: len(_text(message)) for place, message in enumerate(request.messages) if _is_long(message, most)}
    if not cut:
        return None
    messages = [_shortened(message, most) if place in cut else message for place, message in enumerate(request.messages)]
    lengths = ", ".join(map(str, list(cut.values())[:MOST_TOLD])) + (" ..." if len(cut) > MOST_TOLD else "")
    warning = f"tool results of more than {most} characters lost their middle: {len(cut)} (of {lengths} characters)"
    return Act("result_characters", replace(request, messages=tuple(messages)), warning)


def shortened(text: str, most: int) -> str:
    """Beginning and end of a text, with a notice between them that tells how much is missing; at most so many characters."""
    total = len(text)
    room = most - len(NOTICE.format(cut=total, total=total))
    head = text[: room - room // 2]
    tail = text[total - room // 2 :]
    if (end := head.rfind("\n")) >= len(head) - len(head) // LINE:
        head = head[:end]
    if 0 <= (begin := tail.find("\n")) < len(tail) // LINE:
        tail = tail[begin + 1 :]
    return head + NOTICE.format(cut=total - len(head) - len(tail), total=total) + tail


def _is_long(message: Mapping[str, Any], most: int) -> bool:
    return message["role"] == "tool" and len(_text(message)) > most


def _text(message: Mapping[str, Any]) -> str:
    """A result's whole text; other parts, such as images, are none."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in _parts(content) if isinstance(part.get("text"), str))


def _shortened(message: Mapping[str, Any], most: int) -> Mapping[str, Any]:
    content, text = message.get("content"), shortened(_text(message), most)
    if isinstance(content, str):
        return {**message, "content": text}
    others = [part for part in _parts(content) if not isinstance(part.get("text"), str)]
    return {**message, "content": [{"type": "text", "text": text}, *others]}


def _parts(content: Any) -> Sequence[Mapping[str, Any]]:
    return [part for part in content or () if isinstance(part, Mapping)] if isinstance(content, list | tuple) else ()
