"""LangChain and LangGraph: `run.py chat` or `run.py responses`."""

import sys
from typing import Any

import pydantic
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
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
    not_read,
    run,
    same,
    scenario,
)

RESPONSES = sys.argv[1] == "responses"
tools = [tool(function) for function in TOOLS.values()]


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def model(name: str = MODEL, **options: Any) -> Any:
    same_for_all: Any = {"base_url": BASE_URL, "api_key": "unused", "stream_usage": True, "timeout": 120}
    return ChatOpenAI(model=name, use_responses_api=RESPONSES, **same_for_all, **options)


def streamed(runnable: Any, text: str) -> Any:
    """The message that its chunks add up to."""
    chunks = iter(runnable.stream(text))
    whole = next(chunks)
    for chunk in chunks:
        whole += chunk
    return whole


def calls(message: Any) -> list[Any]:
    return [(call["name"], call["args"]) for call in message.tool_calls]


def agent_says(text: str) -> str:
    answer = create_agent(model(), tools).invoke({"messages": [{"role": "user", "content": text}]})
    return str(answer["messages"][-1].text)


@scenario("A")
def one_tool() -> None:
    same(calls(streamed(model().bind_tools(tools), ONE_TOOL)), [("get_weather", {"city": "Oslo"})])


@scenario("B")
def two_calls() -> None:
    both = [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Rome"})]
    same(calls(streamed(model().bind_tools(tools), TWO_CALLS)), both)
    same("degrees" in agent_says(TWO_CALLS), True)


@scenario("C")
def task() -> None:
    same(SECRET in agent_says(TASK), True)


@scenario("D")
def structured() -> None:
    for method in ("json_schema", "json_mode"):
        same(model().with_structured_output(Person, method=method).invoke(PERSON), Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    for choice in ("get_weather", "any"):
        same(calls(model().bind_tools(tools, tool_choice=choice).invoke(ONE_TOOL)), [("get_weather", {"city": "Oslo"})])


@scenario("F")
def failures() -> str:
    return meets_failures(lambda name: model(name).invoke(HELLO), lambda error: getattr(error, "status_code", None))


@scenario("G")
def mid_stream() -> str:
    return broken_off(lambda: streamed(model("dies"), HELLO))


@scenario("H")
def reasoning() -> str:
    # Of responses it reads thinking in summaries only.
    message = streamed(model(reasoning={"summary": "auto"}) if RESPONSES else model(), THINK)
    if not RESPONSES:
        return not_read(message.text)
    same(message.text.strip(), "Four.")
    (thought,) = [block["reasoning"] for block in message.content_blocks if block["type"] == "reasoning"]
    same(thought.strip(), "Two and two are four.")
    return ""


@scenario("I")
def no_arguments() -> None:
    same(calls(streamed(model().bind_tools(tools), PING)), [("ping", {})])
    same(agent_says(PING), "The server is up.")


@scenario("J")
def usage() -> None:
    spent = streamed(model(), HELLO).usage_metadata
    same((spent["output_tokens"], spent["input_tokens"] > 0), (2, True))


run()
