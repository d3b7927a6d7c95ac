"""A model of pure noise is held to the letter: 200 constrained requests give 200 calls that satisfy their schema."""

import asyncio
import itertools
import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from openai import AsyncOpenAI

from tests.e2e.vllm.families import FAMILIES

REQUESTS_IN_ALL = 200
AT_ONCE = 6
LONGEST = 1500

NESTED = {
    "type": "object",
    "properties": {
        "to": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 12}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
            "required": ["city", "zip"],
            "additionalProperties": False,
        },
        "express": {"type": "boolean"},
    },
    "required": ["to", "express"],
    "additionalProperties": False,
}
ENUMS = {
    "type": "object",
    "properties": {
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit", "kelvin"]},
        "level": {"type": "integer", "enum": [1, 2, 3]},
        "when": {"type": "string", "const": "now"},
    },
    "required": ["unit", "level", "when"],
    "additionalProperties": False,
}
ARRAYS = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 8}, "minItems": 1, "maxItems": 3},
        "points": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"x": {"type": "integer", "minimum": 0, "maximum": 99}, "y": {"type": "integer", "minimum": 0}},
                "required": ["x", "y"],
                "additionalProperties": False,
            },
            "minItems": 1,
            "maxItems": 2,
        },
    },
    "required": ["tags", "points"],
    "additionalProperties": False,
}
UNICODE = {
    "type": "object",
    "properties": {
        "straße": {"type": "string", "enum": ["Größe", "京都", "🎉 party"]},
        "名前": {"type": "string", "maxLength": 10},
    },
    "required": ["straße", "名前"],
    "additionalProperties": False,
}
NULLABLE = {
    "type": "object",
    "properties": {
        "limit": {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 500}, {"type": "null"}]},
        # Bounded: noise writes 7e3055952333087, which is a number in JSON and none in any client.
        "share": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "mode": {"$ref": "#/$defs/mode"},
    },
    "required": ["limit", "share", "mode"],
    "additionalProperties": False,
    "$defs": {"mode": {"type": "string", "enum": ["fast", "slow"]}},
}
SCHEMAS = {"send_parcel": NESTED, "get_weather": ENUMS, "draw": ARRAYS, "greet": UNICODE, "search": NULLABLE}


def tool(name: str, *, strict: bool) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": SCHEMAS[name], "strict": strict}}


def requests() -> Iterator[dict[str, Any]]:
    """Every kind in turn: required or named, one tool or more, strict or not, one call or any number, streamed or whole."""
    names = list(SCHEMAS)
    kinds = itertools.product((True, False), ("required", "named"), (True, False), range(len(names)))
    for seed, (strict, choice, stream, first) in enumerate(itertools.cycle(kinds)):
        offered = [names[first], names[(first + seed) % len(names)], names[(first + 2) % len(names)]][: 1 + seed % 3]
        yield {
            "messages": [{"role": "user", "content": f"Request {seed}: do something with {offered[0]}."}],
            "tools": [tool(name, strict=strict) for name in dict.fromkeys(offered)],
            "tool_choice": {"type": "function", "function": {"name": offered[0]}} if choice == "named" else "required",
            "parallel_tool_calls": seed % 4 == 0,
            "stream": stream,
            "seed": seed,
        }


def faults(request: dict[str, Any], calls: list[tuple[str, str]], finish: str | None, content: str) -> list[str]:
    """Everything that is wrong with an answer."""
    offered = [each["function"]["name"] for each in request["tools"]]
    named = request["tool_choice"] != "required"
    wrong = [] if calls else ["no call"]
    if len(calls) > 1 and not request["parallel_tool_calls"]:
        wrong.append(f"{len(calls)} calls where one was allowed")
    if finish != ("stop" if named else "tool_calls"):
        wrong.append(f"finish_reason {finish}")
    if content.strip():
        wrong.append(f"content {content[:80]!r}")
    for name, arguments in calls:
        if name not in (offered[:1] if named else offered):
            wrong.append(f"a call of {name!r}")
        elif not valid(name, arguments):
            wrong.append(f"{name} got {arguments[:200]}")
    return wrong


def valid(name: str, arguments: str) -> bool:
    try:
        return bool(jsonschema_rs.validator_for(SCHEMAS[name]).is_valid(json.loads(arguments)))
    except ValueError:
        return False


async def answer(client: AsyncOpenAI, model: str, request: dict[str, Any]) -> list[str]:
    """Send one request; what is wrong with its answer."""
    options = {**request, "model": model, "max_completion_tokens": LONGEST, "temperature": 1.0}
    if not request["stream"]:
        choice = (await client.chat.completions.create(**options)).choices[0]
        calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or []]
        return faults(request, calls, choice.finish_reason, choice.message.content or "")
    names: list[str] = []
    arguments: list[str] = []
    content, finish = "", None
    async for chunk in await client.chat.completions.create(**options):
        for choice in chunk.choices:
            content += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or []:
                if call.index == len(names):
                    names.append(call.function.name)
                    arguments.append("")
                arguments[call.index] += call.function.arguments or ""
    return faults(request, list(zip(names, arguments, strict=True)), finish, content)


async def answers(url: str, model: str, chosen: list[dict[str, Any]]) -> list[str]:
    """Send these requests, a few at a time; everything that is wrong with their answers."""
    turnstile = asyncio.Semaphore(AT_ONCE)
    async with AsyncOpenAI(base_url=url, api_key="none", timeout=300, max_retries=0) as client:

        async def one(number: int, request: dict[str, Any]) -> list[str]:
            async with turnstile:
                try:
                    wrong = await answer(client, model, request)
                except Exception as error:  # one refused request must not hide the others
                    wrong = [f"{type(error).__name__}: {error}"]
            choice = "required" if request["tool_choice"] == "required" else "named"
            return [f"request {number} ({choice}, stream {request['stream']}): {each}" for each in wrong]

        found = await asyncio.gather(*(one(number, request) for number, request in enumerate(chosen)))
    return [each for wrong in found for each in wrong]


SHARE = -(-REQUESTS_IN_ALL // len(FAMILIES))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_constrained_call_satisfies_its_schema(random_gateway: str, family: str) -> None:
    start = FAMILIES.index(family) * SHARE
    chosen = list(itertools.islice(requests(), start, start + SHARE))
    wrong = asyncio.run(answers(random_gateway, f"random-{family}", chosen))
    assert not wrong, "\n".join(wrong)
