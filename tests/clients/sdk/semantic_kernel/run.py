"""Semantic Kernel."""

import asyncio
from typing import Any

import openai
import pydantic
from scenarios import BASE_URL, HELLO, MODEL, ONE_TOOL, OSLO, PERSON, THINK, TOOLS, agent, called, not_read, run, same, scenario
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.functions import KernelArguments, KernelPlugin, kernel_function

loop = asyncio.Runner()


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def helper(name: str = MODEL, **settings: Any) -> Any:
    client = openai.AsyncOpenAI(base_url=BASE_URL, api_key="unused", timeout=120)
    return ChatCompletionAgent(
        service=OpenAIChatCompletion(ai_model_id=name, async_client=client),
        plugins=[KernelPlugin("P", functions=[kernel_function(function) for function in TOOLS.values()])],
        arguments=KernelArguments(OpenAIChatPromptExecutionSettings(**settings)),
    )


async def streamed(text: str, name: str = MODEL, **settings: Any) -> list[Any]:
    # The model is to call the tools by the names they have here.
    return [part.message async for part in helper(name, **settings).invoke_stream(f"Plugin P: {text}")]


def says(text: str, name: str = MODEL, **settings: Any) -> str:
    return "".join(str(message) for message in loop.run(streamed(text, name, **settings)))


agent(says)


@scenario("D")
def structured() -> None:
    same(Person.model_validate_json(says(PERSON, response_format=Person)), Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    called.clear()
    says(ONE_TOOL, function_choice_behavior=FunctionChoiceBehavior.Required())
    same(called, [OSLO])


@scenario("H")
def reasoning() -> str:
    return not_read(says(THINK))


@scenario("J")
def usage() -> None:
    spent = loop.run(streamed(HELLO))[-1].metadata["usage"]
    same((spent.completion_tokens, spent.prompt_tokens > 0), (2, True))


run()
