"""LlamaIndex."""

import asyncio
from typing import Any

import pydantic
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from scenarios import (
    AS_PERSON,
    BASE_URL,
    HELLO,
    MODEL,
    ONE_TOOL,
    OSLO,
    THINK,
    TOOLS,
    agent,
    not_read,
    run,
    same,
    scenario,
)

loop = asyncio.Runner()
tools = [FunctionTool.from_defaults(function) for function in TOOLS.values()]


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def model(name: str = MODEL, **options: Any) -> Any:
    return OpenAILike(
        model=name,
        api_base=BASE_URL,
        api_key="unused",
        is_chat_model=True,
        is_function_calling_model=True,
        should_use_structured_outputs=False,
        additional_kwargs=options,
    )


def says(text: str, name: str) -> str:
    async def work() -> Any:
        return await FunctionAgent(tools=tools, llm=model(name)).run(text)

    return str(loop.run(work()))


agent(says)


@scenario("D")
def structured() -> None:
    same(model().as_structured_llm(Person).complete(AS_PERSON).raw, Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    for choice in ("required", "get_weather"):
        response = model().chat_with_tools(tools, user_msg=ONE_TOOL, tool_choice=choice)
        (call,) = model().get_tool_calls_from_response(response)
        same((call.tool_name, call.tool_kwargs), OSLO)


@scenario("H")
def reasoning() -> str:
    *_, last = model().stream_complete(THINK)
    return not_read(last.text)


@scenario("J")
def usage() -> None:
    *_, last = model(stream_options={"include_usage": True}).stream_complete(HELLO)
    spent = last.raw.usage
    same((spent.completion_tokens, spent.prompt_tokens > 0), (2, True))


run()
