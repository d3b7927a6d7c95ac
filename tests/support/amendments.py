"""What a request may become before a template renders it: small rewritings, made independently of the gateway's own code."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

Messages = list[dict[str, Any]]
_MOST = 4
"""Amendments of one conversation."""


@dataclass(frozen=True)
class Asked:
    """A conversation as a template gets it."""

    messages: Messages
    tools: list[dict[str, Any]]
    null_tools: bool = True
    """Whether a request without tools says so by null, or not at all."""
    variable: str = "tools"

    def calls(self) -> Iterator[dict[str, Any]]:
        for message in self.messages:
            yield from message.get("tool_calls") or ()


def arguments_as_mapping(asked: Asked) -> Asked:
    return _arguments(asked, lambda given: json.loads(given) if isinstance(given, str) else given)


def arguments_as_text(asked: Asked) -> Asked:
    return _arguments(asked, lambda given: given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))


def developer_as_system(asked: Asked) -> Asked:
    return _each(asked, lambda message: {**message, "role": "system"} if message["role"] == "developer" else message)


def parts_joined(asked: Asked) -> Asked:
    return _each(asked, lambda message: _joined(message, ""))


def parts_on_lines(asked: Asked) -> Asked:
    return _each(asked, lambda message: _joined(message, "\n"))


def empty_content(asked: Asked) -> Asked:
    return _each(asked, lambda message: {**message, "content": ""} if message["content"] is None else message)


def null_content(asked: Asked) -> Asked:
    return _each(
        asked, lambda message: {**message, "content": None} if message.get("tool_calls") and not message["content"] else message
    )


def ids_by_number(asked: Asked) -> Asked:
    ids = {call["id"]: f"functions.{call['function']['name']}:{number}" for number, call in enumerate(asked.calls())}
    renamed = _each(
        asked, lambda message: {**message, "tool_call_id": ids[message["tool_call_id"]]} if "tool_call_id" in message else message
    )
    for call in renamed.calls():
        call["id"] = ids[call["id"]]
    return renamed


def one_call_a_turn(asked: Asked) -> Asked:
    told: Messages = []
    for at, message in enumerate(asked.messages):
        calls = message.get("tool_calls") or []
        if message["role"] == "tool" and any(message is answer for answer in told):
            continue
        if len(calls) < 2:
            told.append(message)
            continue
        for number, call in enumerate(calls):
            content = message["content"] if number == 0 else ""
            told.append({"role": "assistant", "content": content, "tool_calls": [call]})
            told += [answer for answer in asked.messages[at:] if answer.get("tool_call_id") == call["id"]]
    return replace(asked, messages=told)


def empty_system_first(asked: Asked) -> Asked:
    if not asked.tools or asked.messages[0]["role"] in ("system", "developer"):
        return asked
    return replace(asked, messages=[{"role": "system", "content": ""}, *asked.messages])


def system_before_user(asked: Asked) -> Asked:
    first, *rest = asked.messages
    if first["role"] not in ("system", "developer") or not rest:
        return asked
    return replace(asked, messages=[{**rest[0], "content": f"{first['content']}\n\n{rest[0]['content']}"}, *rest[1:]])


def unions_of_types(asked: Asked) -> Asked:
    return replace(asked, tools=[_without_type_lists(tool) for tool in asked.tools])


def no_null_tools(asked: Asked) -> Asked:
    return asked if asked.tools else replace(asked, null_tools=False)


def property_descriptions(asked: Asked) -> Asked:
    return _properties(asked, lambda property_: {"description": "", **property_})


def additional_properties(asked: Asked) -> Asked:
    return replace(asked, tools=[_open_objects(tool) for tool in asked.tools])


def tools_by_another_name(asked: Asked) -> Asked:
    return replace(asked, variable="xml_tools") if asked.tools else asked


def content_as_parts(asked: Asked) -> Asked:
    return _each(
        asked,
        lambda message: (
            {**message, "content": [{"type": "text", "text": message["content"]}]}
            if isinstance(message["content"], str)
            else message
        ),
    )


AMENDMENTS: dict[str, Callable[[Asked], Asked]] = {
    amendment.__name__: amendment
    for amendment in (
        arguments_as_mapping,
        arguments_as_text,
        developer_as_system,
        parts_joined,
        parts_on_lines,
        empty_content,
        null_content,
        ids_by_number,
        one_call_a_turn,
        system_before_user,
        empty_system_first,
        unions_of_types,
        no_null_tools,
        property_descriptions,
        additional_properties,
        tools_by_another_name,
        content_as_parts,
    )
}


def amended(asked: Asked) -> Iterator[tuple[tuple[str, ...], Asked]]:
    """The conversation under every combination of the amendments that change it, the smallest first."""
    telling = [name for name in AMENDMENTS if _under((name,), asked) != asked]
    for size in range(1, _MOST + 1):
        for names in combinations(telling, size):
            yield names, _under(names, asked)


def _under(names: tuple[str, ...], asked: Asked) -> Asked:
    for name in names:
        asked = AMENDMENTS[name](deepcopy(asked))
    return asked


def _properties(asked: Asked, rewrite: Callable[[dict[str, Any]], dict[str, Any]]) -> Asked:
    """Every property of every schema, however deep, rewritten."""

    def told(node: Any) -> Any:
        if isinstance(node, list):
            return [told(item) for item in node]
        if not isinstance(node, dict):
            return node
        inner = {key: told(value) for key, value in node.items()}
        if isinstance(inner.get("properties"), dict):
            inner["properties"] = {name: rewrite(value) for name, value in inner["properties"].items()}
        return inner

    return replace(asked, tools=[told(tool) for tool in asked.tools])


def _open_objects(node: Any) -> Any:
    if isinstance(node, list):
        return [_open_objects(item) for item in node]
    if not isinstance(node, dict):
        return node
    told = {key: _open_objects(value) for key, value in node.items()}
    return {**told, "additionalProperties": {}} if told.get("type") == "object" and "additionalProperties" not in told else told


def _each(asked: Asked, rewrite: Callable[[dict[str, Any]], dict[str, Any]]) -> Asked:
    return replace(asked, messages=[rewrite(message) for message in asked.messages])


def _arguments(asked: Asked, rewrite: Callable[[Any], Any]) -> Asked:
    for call in asked.calls():
        call["function"]["arguments"] = rewrite(call["function"]["arguments"])
    return asked


def _joined(message: dict[str, Any], joiner: str) -> dict[str, Any]:
    content = message["content"]
    return {**message, "content": joiner.join(part["text"] for part in content)} if isinstance(content, list) else message


def _without_type_lists(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_type_lists(item) for item in node]
    if not isinstance(node, dict):
        return node
    told = {key: _without_type_lists(value) for key, value in node.items()}
    if isinstance(told.get("type"), list):
        rest = {key: value for key, value in told.items() if key != "type"}
        return {"anyOf": [{"type": kind} for kind in told["type"]], **rest}
    return told
