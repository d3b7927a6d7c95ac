"""The answer in one piece: the same events, folded."""

import json
from collections.abc import Sequence
from typing import Any

from gateway.chat.events import Batch, TokenLogprob, Usage
from gateway.protocols.custom_input import input_of
from parsers import Event, Finish, Message, ToolCall, fold

from .shape import Shape, logprobs_object, usage_object
from .thinking import InContent


def whole(shape: Shape, batches: Sequence[Batch], usage: Usage | None) -> bytes:
    """The body of a `chat.completion`."""
    answer = {
        "id": shape.id,
        "object": "chat.completion",
        "created": shape.created,
        "model": shape.model,
        "choices": [_choice(shape, index, batches) for index in range(shape.choices)],
        "usage": usage_object(usage) if usage is not None else None,
        "system_fingerprint": None,
        "service_tier": "default",
    }
    return json.dumps(answer, separators=(",", ":")).encode()


def _choice(shape: Shape, index: int, batches: Sequence[Batch]) -> dict[str, Any]:
    events: list[Event] = []
    logprobs: list[TokenLogprob] = []
    for batch in batches:
        if batch.choice == index:
            events += batch.events
            logprobs += batch.logprobs or ()
    if shape.thinks_aloud:
        events = InContent().passed(events)
    reason = next((event.reason for event in events if isinstance(event, Finish)), "stop")
    stop = next((batch.stop for batch in batches if batch.choice == index and batch.stop is not None), None)
    choice = {
        "index": index,
        "message": _message(shape, index, fold(events)),
        "logprobs": logprobs_object(logprobs) if logprobs else None,
        "finish_reason": shape.finish_reason(reason),
    }
    return choice if stop is None else {**choice, "stop_reason": stop}


def _message(shape: Shape, choice: int, folded: Message) -> dict[str, Any]:
    calls = folded.tool_calls
    content = folded.content or (None if calls and shape.profile.no_content == "null" else "")
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if folded.reasoning and shape.reasoning:
        message |= {"reasoning": folded.reasoning, "reasoning_content": folded.reasoning}
    if calls and shape.legacy:
        message["function_call"] = _function(calls[0])
    elif calls:
        message["tool_calls"] = [
            {"id": shape.call_id(choice, index), **_call(call, custom=call.name in shape.custom)}
            for index, call in enumerate(calls)
        ]
    return message


def _call(call: ToolCall, *, custom: bool) -> dict[str, Any]:
    if custom:
        return {"type": "custom", "custom": {"name": call.name, "input": input_of(call.arguments)}}
    return {"type": "function", "function": _function(call)}


def _function(call: ToolCall) -> dict[str, str]:
    return {"name": call.name, "arguments": call.arguments}
