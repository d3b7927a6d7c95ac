"""The shape of a recorded turn: what is written of a plan and of an outcome, and the plan that is read again."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from gateway.chat.plan import Plan, Prompt
from gateway.chat.request import ChatRequest, ResponseFormat, Sampling, ToolChoice
from parsers import Format, Message, Tool

from .redaction import Hide

Json = dict[str, Any]
KIND = "turn/1"
"""What a line says it is; the number grows when older readers cannot read it."""
PROSE = ("description", "title", "default", "examples", "$comment")
"""Keys of a schema whose texts hold nothing to."""


def request_of(request: ChatRequest, hide: Hide) -> Json:
    """What was asked."""
    form = request.response_format
    return {
        "messages": [hide(message) for message in request.messages],
        "tools": [tool_of(tool, hide) for tool in request.tools],
        "tool_choice": asdict(request.tool_choice),
        "parallel_tool_calls": request.parallel_tool_calls,
        "response_format": {
            "kind": form.kind,
            "schema": form.schema and _schema(form.schema, hide),
            "strict": form.strict,
            "held": form.held,
        },
        "sampling": {**asdict(request.sampling), "stop": hide(request.sampling.stop)},
        "template_kwargs": hide(dict(request.template_kwargs)),
        "continues": request.continues,
    }


def plan_facts(plan: Plan, policy: str, hide: Hide) -> Json:
    """What was decided of it. `policy`: what happens to an answer that breaks the demand."""
    ids = plan.prompt.token_ids
    return {
        "opening": hide(plan.prompt.opening) if plan.request.continues else plan.prompt.opening,
        "callable": [tool.name for tool in plan.tools],
        "hidden": next((tool_of(tool, hide) for tool in plan.tools if tool.name == plan.hidden), None),
        "loose": sorted(plan.loose),
        "loose_answer": plan.loose_answer,
        "policy": policy,
        "constraint": plan.constraint.kind if plan.constraint else None,
        "stop": list(plan.stop_token_texts),
        "prompt": {
            "characters": len(plan.prompt.text),
            "tokens": None if ids is None else len(ids),
            "sha256": hashlib.sha256(plan.prompt.text.encode("utf-8", "surrogatepass")).hexdigest(),
        },
    }


def tool_of(tool: Tool, hide: Hide) -> Json:
    """A tool; its schema is whole but for what it says in words."""
    return {
        "name": tool.name,
        "description": hide(tool.description),
        "parameters": _schema(tool.parameters, hide),
        "strict": tool.strict,
    }


def _schema(schema: Any, hide: Hide) -> Any:
    if isinstance(schema, Mapping):
        return {
            key: hide(inner) if key in PROSE and not isinstance(inner, Mapping) else _schema(inner, hide)
            for key, inner in schema.items()
        }
    return [_schema(inner, hide) for inner in schema] if isinstance(schema, list | tuple) else schema


def outcome_of(answers: Iterable[tuple[Message, str]], refused: str | None) -> Json:
    """What a parser made of a turn: each choice's message, and the code of the error that the answer is."""
    choices = [
        {
            "content": answer.content,
            "reasoning": answer.reasoning,
            "tool_calls": [asdict(call) for call in answer.tool_calls],
            "notices": [asdict(notice) for notice in answer.notices],
            "finish": finish or None,
        }
        for answer, finish in answers
    ]
    return {"choices": choices, "refused": refused}


def plan_of(record: Mapping[str, Any], fmt: Format, opening: str | None = None) -> Plan:
    """The plan that a line tells of, as far as it matters for reading the turn. KeyError, TypeError: it is no such line."""
    plan = record["plan"]
    chat = chat_of(record)
    hidden = () if plan["hidden"] is None else (Tool(**plan["hidden"]),)
    return Plan(
        request=chat,
        model=record["engine_model"],
        format=fmt,
        prompt=Prompt("", None, plan["opening"] if opening is None else opening),
        tools=tuple(tool for tool in (*chat.tools, *hidden) if tool.name in plan["callable"]),
        sampling=chat.sampling,
        loose=frozenset(plan["loose"]),
        loose_answer=plan["loose_answer"],
        hidden=hidden[0].name if hidden else None,
    )


def chat_of(record: Mapping[str, Any]) -> ChatRequest:
    """The request that a line tells of."""
    request = record["request"]
    choice = ToolChoice(**request["tool_choice"])
    return ChatRequest(
        model=record["model"],
        messages=tuple(request["messages"] or ()),
        tools=tuple(Tool(**tool) for tool in request["tools"]),
        tool_choice=replace(choice, allowed=None if choice.allowed is None else tuple(choice.allowed)),
        parallel_tool_calls=request["parallel_tool_calls"],
        response_format=ResponseFormat(**request["response_format"]),
        sampling=Sampling(n=request["sampling"]["n"]),
        template_kwargs=request["template_kwargs"],
        continues=request["continues"],
    )
