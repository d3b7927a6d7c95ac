"""A conversation replaced by a summary of the model's own, which clients keep and send back without reading it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateway.chat.request import ChatRequest, ResponseFormat, ToolChoice
from gateway.errors import RequestError

from .seal import unsealed

Json = dict[str, Any]
TRIGGER = "compaction_trigger"
SUMMARY = "compaction"
KEPT_ROLES = ("user", "system", "developer")
ASKED = (
    "Summarise the conversation above for yourself: you will go on with the work from your summary alone, without the "
    "conversation. Say what the user wants, what has been done and found out, with every name, path, number and decision that "
    "still matters, and what is left to do. Write the summary and nothing else."
)
TOLD = "Summary of the conversation before this point, written by you:\n\n"


def without_trigger(items: Sequence[Json]) -> tuple[list[Json], bool]:
    """The items, and whether the last of them asked for a summary. RequestError: another one did."""
    for index, item in enumerate(items[:-1]):
        if item.get("type") == TRIGGER:
            message = f"Invalid value for 'input[{index}].type': only the last item may be a '{TRIGGER}'."
            raise RequestError(message, param=f"input[{index}].type")
    asked = bool(items) and items[-1].get("type") == TRIGGER
    return list(items[:-1] if asked else items), asked


def summarising(chat: ChatRequest) -> ChatRequest:
    """The request with which the model writes the summary."""
    return replace(
        chat,
        messages=(*chat.messages, {"role": "user", "content": ASKED}),
        tool_choice=ToolChoice("none"),
        response_format=ResponseFormat(),
        continues=False,
    )


def since_summary(items: Sequence[Json]) -> list[Json]:
    """What of these items the model still needs: a summary stands for the turns before it, but not for what was asked of them."""
    places = [place for place, item in enumerate(items) if summary_in(item)]
    last = places[-1] if places else 0
    return [item for item in items[:last] if item.get("role") in KEPT_ROLES] + list(items[last:])


def summary_in(item: Mapping[str, Any]) -> str:
    """The text of a summary; nothing where it is none, or not one of ours."""
    return unsealed(item.get("encrypted_content")) if item.get("type") == SUMMARY else ""
