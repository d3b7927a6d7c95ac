"""The answer in one piece: the same events, in the same blocks."""

import json
from collections.abc import Sequence

from pydantic_core import from_json

from gateway.chat.events import Batch, Usage
from parsers import Finish

from .shape import SIGNATURE, Block, Shape, blocks, stop_reason, usage_object


def whole(shape: Shape, batches: Sequence[Batch], usage: Usage) -> bytes:
    """The body of a `message`."""
    events = [event for batch in batches for event in batch.events]
    stop = next((batch.stop for batch in batches if batch.stop is not None), None)
    reason = stop_reason(next((event.reason for event in events if isinstance(event, Finish)), "stop"), stop)
    head = {"id": shape.id, "type": "message", "role": "assistant", "model": shape.model}
    tail = {
        "stop_reason": reason,
        "stop_sequence": stop if reason == "stop_sequence" else None,
        "usage": usage_object(usage),
    }
    content = ",".join(_block(shape, block) for block in blocks(events))
    text = f'{json.dumps(head)[:-1]},"content":[{content}],{json.dumps(tail)[1:]}'
    return text.encode("utf-8", "replace")


def _block(shape: Shape, block: Block) -> str:
    match block.kind:
        case "text":
            return json.dumps({"type": "text", "text": block.text})
        case "thinking":
            return json.dumps({"type": "thinking", "thinking": block.text, "signature": SIGNATURE})
        case "tool_use":
            head = {"type": "tool_use", "id": shape.call_id(block.index), "name": block.name}
            return f'{json.dumps(head)[:-1]},"input":{_input(block)}}}'


def _input(block: Block) -> str:
    """The arguments as the model wrote them; of a call that was cut, what the clients make of its beginning."""
    if block.complete:
        return block.text or "{}"
    try:
        value = from_json(block.text, allow_partial=True)
    except ValueError:
        value = {}
    return json.dumps(value if isinstance(value, dict) else {})
