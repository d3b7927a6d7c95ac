"""Haystack."""

import json
from typing import Any

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret
from scenarios import (
    BASE_URL,
    HELLO,
    MODEL,
    ONE_TOOL,
    OSLO,
    PERSON,
    PERSON_SCHEMA,
    THINK,
    TOOLS,
    agent,
    not_read,
    run,
    same,
    scenario,
)

tools = [create_tool_from_function(function) for function in TOOLS.values()]


def model(name: str = MODEL, **options: Any) -> Any:
    return OpenAIChatGenerator(
        api_key=Secret.from_token("unused"),
        model=name,
        api_base_url=BASE_URL,
        streaming_callback=lambda chunk: None,
        generation_kwargs=options,
    )


def ask(text: str, **options: Any) -> Any:
    (message,) = model(**options).run([ChatMessage.from_user(text)], tools=tools)["replies"]
    return message


def says(text: str, name: str) -> str:
    return Agent(chat_generator=model(name), tools=tools).run(messages=[ChatMessage.from_user(text)])["last_message"].text


agent(says)


@scenario("D")
def structured() -> None:
    schema = {"name": "person", "strict": True, "schema": PERSON_SCHEMA}
    message = ask(PERSON, response_format={"type": "json_schema", "json_schema": schema})
    same(json.loads(message.text), {"name": "Anna", "age": 31})


@scenario("E")
def forced() -> None:
    for choice in ("required", {"type": "function", "function": {"name": "get_weather"}}):
        (call,) = ask(ONE_TOOL, tool_choice=choice).tool_calls
        same((call.tool_name, call.arguments), OSLO)


@scenario("H")
def reasoning() -> str:
    return not_read(ask(THINK).text)


@scenario("J")
def usage() -> None:
    spent = ask(HELLO, stream_options={"include_usage": True}).meta["usage"]
    same((spent["completion_tokens"], spent["prompt_tokens"] > 0), (2, True))


run()
