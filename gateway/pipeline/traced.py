"""What a trace tells of a request beside its record, in OpenTelemetry's words for generative AI."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gateway.chat.plan import Plan
from gateway.chat.request import ChatRequest
from gateway.telemetry.otlp import clean
from parsers import Message

Json = dict[str, Any]
SAMPLED = ("max_tokens", "temperature", "top_p", "frequency_penalty", "presence_penalty", "seed")


def request_attributes(plan: Plan) -> Json:
    """How the model is asked; nothing of what it is asked."""
    sampling = plan.sampling
    known: Json = {f"gen_ai.request.{name}": getattr(sampling, name) for name in SAMPLED}
    known["gen_ai.request.top_k"] = sampling.engine_extras.get("top_k")
    known["gen_ai.request.choice.count"] = sampling.n if sampling.n > 1 else None
    known["gen_ai.output.type"] = "text" if plan.request.response_format.kind == "text" else "json"
    return {key: value for key, value in known.items() if isinstance(value, int | float | str)}


def result_events(request: ChatRequest) -> Iterator[Json]:
    """Which results of tools the request brings: those behind the last turn, by their calls' ids and names, and their lengths."""
    names: dict[Any, str] = {}
    results: list[Mapping[str, Any]] = []
    for message in request.messages:
        results = [*results, message] if message["role"] == "tool" else []
        names |= {call.get("id"): str((call.get("function") or {}).get("name")) for call in message.get("tool_calls") or ()}
    for result in results:
        length = sum(map(len, _texts(result.get("content"))))
        told = {"gen_ai.tool.call.id": result.get("tool_call_id"), "gen_ai.tool.name": names.get(result.get("tool_call_id"))}
        yield {**{key: clean(str(value)) for key, value in told.items() if value}, "toolwire.tool_result.characters": length}


def content_attributes(request: ChatRequest, answers: Iterable[tuple[Message, str]]) -> Json:
    """What was asked and answered. `answers`: those of all choices, with how each ended."""
    outputs = [{**_message(_as_history(answer)), "finish_reason": reason} for answer, reason in answers]
    found = {"gen_ai.input.messages": [_message(message) for message in request.messages], "gen_ai.output.messages": outputs}
    if request.tools:
        found["gen_ai.tool.definitions"] = [
            {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in request.tools
        ]
    return {key: json.dumps(value, default=str) for key, value in found.items()}


def _as_history(answer: Message) -> Json:
    calls = [{"id": call.id, "function": {"name": call.name, "arguments": call.arguments}} for call in answer.tool_calls]
    return {"role": "assistant", "reasoning_content": answer.reasoning, "content": answer.content, "tool_calls": calls}


def _message(message: Mapping[str, Any]) -> Json:
    return {"role": message["role"], "parts": list(_parts(message))}


def _parts(message: Mapping[str, Any]) -> Iterator[Json]:
    content = message.get("content")
    if message["role"] == "tool":
        yield {"type": "tool_call_response", "id": message.get("tool_call_id"), "response": content}
        return
    if reasoning := message.get("reasoning_content"):
        yield {"type": "reasoning", "content": reasoning}
    yield from ({"type": "text", "content": text} for text in _texts(content))
    for call in message.get("tool_calls") or ():
        function = call["function"]
        yield {"type": "tool_call", "id": call.get("id"), "name": function["name"], "arguments": function["arguments"]}


def _texts(content: str | Sequence[Mapping[str, Any]] | None) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    yield from (part["text"] for part in content or () if isinstance(part.get("text"), str))
