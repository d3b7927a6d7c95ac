"""Calls that were made before, with the same arguments."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.chat.request import ChatRequest
from gateway.settings import GuardSettings

from .act import Act, since_question, with_note

NOTE = (
    "{name} was called {times} times with the same arguments. Calling it so once more will not help: "
    "go on with what is known, or try something else."
)
Call = tuple[str, str]


def told_of_repeats(request: ChatRequest, bounds: GuardSettings) -> Act | None:
    """Tells the model and the client when the last calls were made too often since the user's last message."""
    if bounds.repeated_calls is None:
        return None
    rounds = [list(_calls(message)) for message in request.messages[since_question(request) :] if message.get("tool_calls")]
    counts = Counter(call for calls in rounds for call in calls)
    repeated = [call for call in dict.fromkeys(rounds[-1] if rounds else ()) if counts[call] >= bounds.repeated_calls]
    if not repeated:
        return None
    notes = " ".join(NOTE.format(name=call[0], times=counts[call]) for call in repeated)
    told = ", ".join(f"{call[0]} ({counts[call]} times)" for call in repeated)
    return Act("repeated_calls", with_note(request, notes), f"the same call was made again and again: {told}")


def _calls(message: Mapping[str, Any]) -> Iterator[Call]:
    for call in message["tool_calls"]:
        function = call.get("function") or {}
        yield str(function.get("name") or ""), _canonical(function.get("arguments"))


def _canonical(arguments: Any) -> str:
    """The same text for the same arguments, however they are spaced and ordered."""
    try:
        value = json.loads(arguments or "{}") if isinstance(arguments, str | None) else arguments
        return json.dumps(value, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        return str(arguments)
