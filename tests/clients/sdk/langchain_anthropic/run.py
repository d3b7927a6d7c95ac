"""LangChain over Anthropic's Messages."""

from typing import Any

import pydantic
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from scenarios import HELLO, MODEL, ONE_TOOL, OSLO, PERSON, ROOT, THINK, TOOLS, agent, run, same, scenario

tools = [tool(function) for function in TOOLS.values()]


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def model(name: str = MODEL, **options: Any) -> Any:
    return ChatAnthropic(model=name, base_url=ROOT, api_key="unused", timeout=120, max_tokens=2000, **options)


def streamed(runnable: Any, text: str) -> Any:
    """The message that its chunks add up to."""
    chunks = iter(runnable.stream(text))
    whole = next(chunks)
    for chunk in chunks:
        whole += chunk
    return whole


def says(text: str, name: str) -> str:
    *_, last = create_agent(model(name, streaming=True), tools).stream({"messages": [("user", text)]}, stream_mode="values")
    return str(last["messages"][-1].text)


agent(says)


@scenario("D")
def structured() -> None:
    # Only models of Claude's names are asked for structured output in Anthropic's words.
    strict = model("claude-sonnet-4-5").with_structured_output(Person, method="json_schema")
    same(strict.invoke(PERSON), Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    for choice in ("get_weather", "any"):
        (call,) = model().bind_tools(tools, tool_choice=choice).invoke(ONE_TOOL).tool_calls
        same((call["name"], call["args"]), OSLO)


@scenario("H")
def reasoning() -> None:
    message = streamed(model(thinking={"type": "enabled", "budget_tokens": 1024}), THINK)
    (thought,) = [block["reasoning"] for block in message.content_blocks if block["type"] == "reasoning"]
    same((thought.strip(), message.text.strip()), ("Two and two are four.", "Four."))


@scenario("J")
def usage() -> None:
    spent = streamed(model(), HELLO).usage_metadata
    same((spent["output_tokens"], spent["input_tokens"] > 0), (2, True))


run()
