"""One item of an answer while it is written, and as it is told once it is there."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gateway.chat.events import TokenLogprob
from gateway.protocols.logprobs import logprobs_list

from .seal import seal
from .shape import Shape
from .tool_set import Target

Json = dict[str, Any]
Kind = Literal[
    "message", "reasoning", "function_call", "custom_tool_call", "tool_search_call", "tool_search_output", "compaction"
]
Status = Literal["in_progress", "completed", "incomplete"]


@dataclass(slots=True)
class Item:
    """A message, a stretch of thinking or a call. `texts` join to its text, of a call to its arguments."""

    kind: Kind
    position: int
    target: Target | None = None
    """Which tool is called."""
    status: Status = "in_progress"
    texts: list[str] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    found: Sequence[Json] = ()
    """Tools that a search has found."""

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def begun(self, shape: Shape) -> Json:
        """The item as it is told when it begins."""
        head = {"id": shape.item_id(self.kind, self.position), "type": self.kind, "status": "in_progress"}
        match self.kind:
            case "message":
                return {**head, "role": "assistant", "content": []}
            case "reasoning":
                return {**head, "summary": []} | ({} if shape.summary else {"content": []})
            case "function_call":
                return {**head, "arguments": "", **self._call(shape)}
            case "custom_tool_call":
                return {**head, "input": "", **self._call(shape)}
            case "tool_search_call":
                here = self.target is None or self.target.kind == "server_search"
                call_id = None if here else shape.call_id(self.position)
                return {**head, "execution": "server" if here else "client", "call_id": call_id, "arguments": {}}
            case "tool_search_output":
                return {**head, "execution": "server", "call_id": None, "tools": []}
            case "compaction":
                return {"id": head["id"], "type": self.kind, "encrypted_content": ""}

    def written(self, shape: Shape) -> Json:
        """The item as far as it has come."""
        found = self.begun(shape)
        if "status" in found:
            found["status"] = self.status
        match self.kind:
            case "message":
                found["content"] = [self.part(shape)]
            case "reasoning":
                found["summary" if shape.summary else "content"] = [self.part(shape)]
                if shape.sealed:
                    found["encrypted_content"] = seal(self.text)
            case "function_call":
                found["arguments"] = self.text
            case "custom_tool_call":
                found["input"] = self.text
            case "tool_search_call":
                found["arguments"] = json_object(self.text)
            case "tool_search_output":
                found["tools"] = list(self.found)
            case "compaction":
                found["encrypted_content"] = seal(self.text)
        return found

    def part(self, shape: Shape, *, empty: bool = False) -> Json:
        """The one part of a message, or of thinking."""
        text = "" if empty else self.text
        if self.kind == "message":
            logprobs = [] if empty else logprobs_list(self.logprobs)
            return {"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs}
        return {"type": "summary_text" if shape.summary else "reasoning_text", "text": text}

    def _call(self, shape: Shape) -> Json:
        target = self.target or Target("")
        call = {"call_id": shape.call_id(self.position), "name": target.name}
        return call if target.namespace is None else {**call, "namespace": target.namespace}


def json_object(text: str) -> Json:
    """The arguments of a search; nothing when they are no object."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
