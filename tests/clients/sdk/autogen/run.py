"""AutoGen."""

import asyncio
from typing import Any

import pydantic
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import UserMessage
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from scenarios import BASE_URL, HELLO, MODEL, ONE_TOOL, PERSON, THINK, TOOLS, agent, run, same, scenario

loop = asyncio.Runner()
INFO: Any = {
    "vision": False,
    "function_calling": True,
    "json_output": True,
    "family": "unknown",
    "structured_output": True,
    "multiple_system_messages": True,
}
tools = [FunctionTool(function, description=str(function.__doc__), strict=True) for function in TOOLS.values()]


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def model(name: str = MODEL) -> Any:
    return OpenAIChatCompletionClient(model=name, base_url=BASE_URL, api_key="unused", model_info=INFO)


def says(text: str, name: str = MODEL, **options: Any) -> Any:
    async def work() -> Any:
        helper = AssistantAgent("helper", model(name), tools=tools, model_client_stream=True, reflect_on_tool_use=True, **options)
        return (await helper.run(task=text)).messages[-1].content

    return loop.run(work())


def ask(text: str, **options: Any) -> Any:
    async def work() -> Any:
        *_, last = [part async for part in model().create_stream([UserMessage(content=text, source="user")], **options)]
        return last

    return loop.run(work())


agent(says)


@scenario("D")
def structured() -> None:
    same(Person.model_validate_json(ask(PERSON, json_output=Person).content), Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    for choice in ("required", tools[0]):
        (call,) = ask(ONE_TOOL, tools=tools, tool_choice=choice).content
        same((call.name, call.arguments), ("get_weather", '{"city": "Oslo"}'))


@scenario("H")
def reasoning() -> None:
    answer = ask(THINK)
    same((answer.thought.strip(), answer.content.strip()), ("Two and two are four.", "Four."))


@scenario("J")
def usage() -> None:
    spent = ask(HELLO, include_usage=True).usage
    same((spent.completion_tokens, spent.prompt_tokens > 0), (2, True))


run()
