"""Tool call ids of the kind that a model was trained with, the same for the same conversation in every turn and replica."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from .probing import IdRule

Chat = dict[str, Any]
_NINE = re.compile(r"[A-Za-z0-9]{9}")


def with_ids(chat: Sequence[Chat], rule: IdRule) -> list[Chat]:
    """The conversation with its ids rewritten; results keep naming their calls."""
    ids: dict[str, str] = {}
    rewritten: list[Chat] = []
    number = 0
    for message in chat:
        calls = []
        for call in message.get("tool_calls") or ():
            ids[call["id"]] = _of_call(call, number, rule)
            calls.append({**call, "id": ids[call["id"]]})
            number += 1
        if calls:
            message = {**message, "tool_calls": calls}
        elif "tool_call_id" in message:
            message = {**message, "tool_call_id": _of_result(message["tool_call_id"], ids, rule)}
        rewritten.append(message)
    return rewritten


def _of_call(call: Chat, number: int, rule: IdRule) -> str:
    if rule == "nine":
        return nine_characters(call["id"])
    return str(number) if rule == "counted" else f"functions.{call['function']['name']}:{number}"


def nine_characters(call_id: str) -> str:
    """The id itself where it has nine letters or digits, else nine of its hash."""
    return call_id if _NINE.fullmatch(call_id) else hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:9]


def _of_result(call_id: str, ids: dict[str, str], rule: IdRule) -> str:
    return ids.get(call_id) or (nine_characters(call_id) if rule == "nine" else call_id)
