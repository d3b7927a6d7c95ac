"""Pydantic AI: `run.py chat`, `run.py responses` or `run.py messages`."""

import asyncio
import sys
from typing import Any

import pydantic
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.messages import ModelResponse, ThinkingPart, ToolCallPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from scenarios import (
    BASE_URL,
    HELLO,
    MODEL,
    ONE_TOOL,
    PERSON,
    PERSON_BY_CALL,
    PING,
    ROOT,
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

API = sys.argv[1]
loop = asyncio.Runner()


class Person(pydantic.BaseModel):
    name: str
    age: int


def model(name: str = MODEL) -> Any:
    if API == "messages":
        return AnthropicModel(name, provider=AnthropicProvider(base_url=ROOT, api_key="unused"))
    kind = OpenAIChatModel if API == "chat" else OpenAIResponsesModel
    return kind(name, provider=OpenAIProvider(base_url=BASE_URL, api_key="unused"))


def streamed(text: str, *, name: str = MODEL, tools: bool = True, **options: Any) -> Any:
    """The agent's run, each of its requests streamed."""

    async def work() -> Any:
        agent = Agent(model(name), tools=list(TOOLS.values()) if tools else [], **options)
        async with agent.run_stream(text) as result:
            await result.get_output()
            return result

    return loop.run(work())


def parts(result: Any, kind: type) -> list[Any]:
    answers = [message for message in result.all_messages() if isinstance(message, ModelResponse)]
    return [part for message in answers for part in message.parts if isinstance(part, kind)]


def calls(result: Any) -> list[Any]:
    return [(part.tool_name, part.args_as_dict()) for part in parts(result, ToolCallPart)]


def output(result: Any) -> Any:
    return loop.run(result.get_output())


@scenario("A")
def one_tool() -> None:
    same(calls(streamed(ONE_TOOL)), [("get_weather", {"city": "Oslo"})])


@scenario("B")
def two_calls() -> None:
    result = streamed(TWO_CALLS)
    same(calls(result), [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Rome"})])
    same("degrees" in output(result), True)


@scenario("C")
def task() -> None:
    same(SECRET in output(streamed(TASK)), True)


@scenario("D")
def structured() -> None:
    # Only models of Claude's names are asked for structured output in Anthropic's words.
    agent = Agent(model("claude-sonnet-4-5" if API == "messages" else MODEL), output_type=NativeOutput(Person))
    same(agent.run_sync(PERSON).output, Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    result = streamed(PERSON_BY_CALL, tools=False, output_type=ToolOutput(Person))
    same(output(result), Person(name="Anna", age=31))


@scenario("F")
def failures() -> str:
    return meets_failures(lambda name: Agent(model(name)).run_sync(HELLO), lambda error: getattr(error, "status_code", None))


@scenario("G")
def mid_stream() -> str:
    return broken_off(lambda: streamed(HELLO, name="dies"))


@scenario("H")
def reasoning() -> None:
    # Of responses it reads thinking in summaries only.
    settings: Any = {"openai_reasoning_summary": "auto"} if API == "responses" else {}
    result = streamed(THINK, tools=False, model_settings=settings)
    (thought,) = parts(result, ThinkingPart)
    same((thought.content.strip(), output(result).strip()), ("Two and two are four.", "Four."))


@scenario("I")
def no_arguments() -> None:
    result = streamed(PING)
    same((calls(result), output(result)), ([("ping", {})], "The server is up."))


@scenario("J")
def usage() -> None:
    result = streamed(HELLO, tools=False)
    spent = result.usage
    same((spent.output_tokens, spent.input_tokens > 0), (2, True))


run()
