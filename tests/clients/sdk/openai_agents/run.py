"""OpenAI's Agents SDK: `run.py chat` or `run.py responses`."""

import asyncio
import sys
from typing import Any

import openai
import pydantic
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from scenarios import (
    BASE_URL,
    HELLO,
    MODEL,
    ONE_TOOL,
    PERSON,
    PING,
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

set_tracing_disabled(True)
loop = asyncio.Runner()
KIND: Any = OpenAIChatCompletionsModel if sys.argv[1] == "chat" else OpenAIResponsesModel
tools: list[Any] = [function_tool(function) for function in TOOLS.values()]


class Person(pydantic.BaseModel):
    name: str
    age: int


def streamed(text: str, *, name: str = MODEL, **options: Any) -> Any:
    """The run, each of its requests streamed."""

    async def work() -> Any:
        client = openai.AsyncOpenAI(base_url=BASE_URL, api_key="unused", timeout=120)
        agent: Any = Agent(name="Helper", model=KIND(name, client), **{"tools": tools} | options)
        result = Runner.run_streamed(agent, text)
        async for _ in result.stream_events():
            pass
        return result

    return loop.run(work())


def calls(result: Any) -> list[Any]:
    raw = [item.raw_item for item in result.new_items if item.type == "tool_call_item"]
    return [(call.name, call.arguments) for call in raw]


@scenario("A")
def one_tool() -> None:
    same(calls(streamed(ONE_TOOL)), [("get_weather", '{"city": "Oslo"}')])


@scenario("B")
def two_calls() -> None:
    result = streamed(TWO_CALLS)
    same(calls(result), [("get_weather", '{"city": "Oslo"}'), ("get_weather", '{"city": "Rome"}')])
    same("degrees" in result.final_output, True)


@scenario("C")
def task() -> None:
    same(SECRET in streamed(TASK).final_output, True)


@scenario("D")
def structured() -> None:
    same(streamed(PERSON, output_type=Person, tools=[]).final_output, Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    for choice in ("required", "get_weather"):
        result = streamed(ONE_TOOL, model_settings=ModelSettings(tool_choice=choice), tool_use_behavior="stop_on_first_tool")
        same(result.final_output, "Oslo: 7 degrees")


@scenario("F")
def failures() -> str:
    return meets_failures(lambda name: streamed(HELLO, name=name), lambda error: getattr(error, "status_code", None))


@scenario("G")
def mid_stream() -> str:
    return broken_off(lambda: streamed(HELLO, name="dies"))


@scenario("H")
def reasoning() -> None:
    result = streamed(THINK)
    kinds = [item.type for item in result.new_items]
    same((kinds, result.final_output.strip()), (["reasoning_item", "message_output_item"], "Four."))


@scenario("I")
def no_arguments() -> None:
    result = streamed(PING)
    same((calls(result), result.final_output), ([("ping", "{}")], "The server is up."))


@scenario("J")
def usage() -> None:
    options: Any = {"model_settings": ModelSettings(include_usage=True)}
    spent = streamed(HELLO, **options).context_wrapper.usage
    same((spent.output_tokens, spent.input_tokens > 0, spent.requests), (2, True, 1))


run()
