"""CrewAI: an agent of its own, and its LLM."""

import os
from typing import Any

os.environ |= {"OTEL_SDK_DISABLED": "true", "CREWAI_DISABLE_TELEMETRY": "true"}

import pydantic
from crewai import LLM, Agent
from crewai.tools import tool
from scenarios import (
    BASE_URL,
    HELLO,
    MODEL,
    PERSON,
    THINK,
    TOOLS,
    agent,
    lacks,
    not_read,
    run,
    same,
    scenario,
)

tools = [tool(function) for function in TOOLS.values()]


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def model(name: str = MODEL) -> Any:
    return LLM(model=f"openai/{name}", base_url=BASE_URL, api_key="unused", stream=True)


def says(text: str, name: str) -> str:
    helper: Any = Agent(role="Helper", goal="Help", backstory="You help.", tools=tools, llm=model(name), max_retry_limit=0)
    return str(helper.kickoff(text).raw)


agent(says, asks=lambda text, name: model(name).call(text))
lacks(E="it always asks with `auto`")


@scenario("D")
def structured() -> None:
    same(model().call(PERSON, response_model=Person), Person(name="Anna", age=31))


@scenario("H")
def reasoning() -> str:
    return not_read(model().call(THINK))


@scenario("J")
def usage() -> None:
    llm = model()
    llm.call(HELLO)
    spent = llm.get_token_usage_summary()
    same((spent.completion_tokens, spent.prompt_tokens > 0), (2, True))


run()
