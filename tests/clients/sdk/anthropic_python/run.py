"""Anthropic's official Python client."""

from typing import Any

import anthropic
from scenarios import (
    HELLO,
    MODEL,
    ONE_TOOL,
    PERSON,
    PERSON_SCHEMA,
    PING,
    ROOT,
    SCHEMAS,
    SECRET,
    TASK,
    THINK,
    TOOLS,
    TWO_CALLS,
    broken_off,
    meets_failures,
    run,
    same,
    scenario,
)

client = anthropic.Anthropic(base_url=ROOT, api_key="unused", timeout=120)
tools: list[Any] = [{"name": name, "description": "A tool", "input_schema": schema} for name, schema in SCHEMAS.items()]


def ask(messages: Any, **fields: Any) -> Any:
    """The message that the client's accumulator makes of the stream."""
    messages = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    with client.messages.stream(**{"model": MODEL, "max_tokens": 500, "messages": messages, **fields}) as stream:
        return stream.get_final_message()


def calls(message: Any) -> list[Any]:
    return [(block.name, block.input) for block in message.content if block.type == "tool_use"]


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def until_answered(text: str) -> str:
    messages: list[Any] = [{"role": "user", "content": text}]
    for _ in range(3):
        message = ask(messages, tools=tools)
        if message.stop_reason != "tool_use":
            return text_of(message)
        uses = [block for block in message.content if block.type == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": use.id, "content": TOOLS[use.name](**dict(use.input))} for use in uses]
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    raise AssertionError("no answer")


@scenario("A")
def one_tool() -> None:
    same(calls(ask(ONE_TOOL, tools=tools)), [("get_weather", {"city": "Oslo"})])


@scenario("B")
def two_calls() -> None:
    both = [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Rome"})]
    same(calls(ask(TWO_CALLS, tools=tools)), both)
    same("degrees" in until_answered(TWO_CALLS), True)


@scenario("C")
def task() -> None:
    same(SECRET in until_answered(TASK), True)


@scenario("D")
def structured() -> None:
    wanted = {"format": {"type": "json_schema", "schema": PERSON_SCHEMA}}
    same(text_of(ask(PERSON, output_config=wanted)), '{"name": "Anna", "age": 31}')


@scenario("E")
def forced() -> None:
    for choice in ({"type": "any"}, {"type": "tool", "name": "get_weather"}):
        message = ask(ONE_TOOL, tools=tools, tool_choice=choice)
        same((message.stop_reason, calls(message)), ("tool_use", [("get_weather", {"city": "Oslo"})]))


@scenario("F")
def failures() -> str:
    return meets_failures(lambda model: ask(HELLO, model=model), lambda error: getattr(error, "status_code", None))


@scenario("G")
def mid_stream() -> str:
    return broken_off(lambda: ask(HELLO, model="dies"))


@scenario("H")
def reasoning() -> None:
    message = ask(THINK, max_tokens=2000, thinking={"type": "enabled", "budget_tokens": 1024})
    (thought,) = [block.thinking for block in message.content if block.type == "thinking"]
    same((thought.strip(), text_of(message).strip()), ("Two and two are four.", "Four."))


@scenario("I")
def no_arguments() -> None:
    same(calls(ask(PING, tools=tools)), [("ping", {})])
    same(until_answered(PING), "The server is up.")


@scenario("J")
def usage() -> None:
    message = ask(HELLO)
    same((message.usage.output_tokens, message.usage.input_tokens > 0), (2, True))
    counted = client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": HELLO}])
    same(counted.input_tokens, message.usage.input_tokens)


run()
