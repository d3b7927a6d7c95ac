"""Agno."""

from typing import Any

import pydantic
from agno.agent import Agent
from agno.models.message import Message
from agno.models.openai.like import OpenAILike
from agno.tools import tool
from scenarios import (
    BASE_URL,
    HELLO,
    MODEL,
    ONE_TOOL,
    OSLO,
    PERSON,
    THINK,
    TOOLS,
    agent,
    called,
    get_weather,
    run,
    same,
    scenario,
)


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def model(name: str = MODEL) -> Any:
    return OpenAILike(id=name, base_url=BASE_URL, api_key="unused")


def helper(**options: Any) -> Any:
    return Agent(**{"model": model(), "tools": list(TOOLS.values()), "telemetry": False} | options)


def streamed(text: str) -> Any:
    *_, last = helper().run(text, stream=True, yield_run_output=True)
    return last


def ask(text: str, name: str) -> Any:
    # The agent tells errors as if they were the answer.
    return list(model(name).response_stream([Message(role="user", content=text)]))


agent(lambda text, name: streamed(text).content, asks=ask)


@scenario("D")
def structured() -> None:
    same(helper(tools=[], output_schema=Person).run(PERSON).content, Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    once = tool(stop_after_tool_call=True)(get_weather)
    for choice in ("required", {"type": "function", "function": {"name": "get_weather"}}):
        called.clear()
        helper(tools=[once], tool_choice=choice).run(ONE_TOOL)
        same(called, [OSLO])


@scenario("H")
def reasoning() -> None:
    result = streamed(THINK)
    same((result.reasoning_content.strip(), result.content.strip()), ("Two and two are four.", "Four."))


@scenario("J")
def usage() -> None:
    spent = streamed(HELLO).metrics
    same((spent.output_tokens, spent.input_tokens > 0), (2, True))


run()
