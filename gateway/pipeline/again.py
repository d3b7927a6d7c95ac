"""The second request for an answer that broke what was demanded: the same conversation, the answer, and what is wrong with it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateway.chat.request import ChatRequest
from gateway.errors import AnswerInvalid, ToolCallInvalid
from parsers import Message

NOTHING_DONE = "Nothing was carried out."


def second_request(request: ChatRequest, answer: Message, problem: AnswerInvalid) -> ChatRequest:
    """What the model is asked once more. Of a message that was to be continued the answer is the rest."""
    said, *objection = _exchange(answer, problem)
    before = request.messages
    if request.continues:
        said = {**said, "content": _text(before[-1].get("content")) + said["content"]}
        before = before[:-1]
    return replace(request, messages=(*before, said, *objection), continues=False)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text") or "" for part in content or ())


def _exchange(answer: Message, problem: AnswerInvalid) -> tuple[Mapping[str, Any], ...]:
    """The answer as history, and the objection: as the calls' results where there were calls, else in the user's name."""
    if not answer.tool_calls:
        remedy = "Call a function." if isinstance(problem, ToolCallInvalid) else "Answer again, with JSON of that format only."
        return (
            {"role": "assistant", "content": answer.content or ""},
            {"role": "user", "content": f"{problem.message} {remedy}"},
        )
    ids = [f"call_again_{index}" for index in range(len(answer.tool_calls))]
    calls = [
        {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments or "{}"}}
        for call_id, call in zip(ids, answer.tool_calls, strict=True)
    ]
    objection = f"Error: {problem.message} {NOTHING_DONE} Call again with arguments that satisfy the schema."
    return (
        {"role": "assistant", "content": answer.content or "", "tool_calls": calls},
        *({"role": "tool", "tool_call_id": call_id, "content": objection} for call_id in ids),
    )
