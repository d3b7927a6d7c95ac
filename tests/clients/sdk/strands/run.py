"""Strands Agents."""

from typing import Any

import pydantic
from scenarios import AS_PERSON, BASE_URL, HELLO, MODEL, PERSON, THINK, TOOLS, agent, run, same, scenario
from strands import Agent, tool
from strands.models.openai import OpenAIModel

tools = [tool(function) for function in TOOLS.values()]


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def helper(name: str = MODEL) -> Any:
    model = OpenAIModel(client_args={"base_url": BASE_URL, "api_key": "unused"}, model_id=name)
    # Left alone, it asks an engine that is busy for minutes.
    return Agent(model=model, tools=tools, callback_handler=None, retry_strategy=None)


agent(lambda text, name: helper(name)(text))


@scenario("D")
def structured() -> None:
    result = helper()(AS_PERSON, structured_output_model=Person)
    same(result.structured_output, Person(name="Anna", age=31))


@scenario("E")
def forced() -> str:
    # The model answers in text at first.
    result = helper()(PERSON, structured_output_model=Person)
    same(result.structured_output, Person(name="Anna", age=31))
    return "it forces only the call that gives structured output"


@scenario("H")
def reasoning() -> None:
    thought, answer = helper()(THINK).message["content"]
    same(thought["reasoningContent"]["reasoningText"]["text"].strip(), "Two and two are four.")
    same(answer["text"].strip(), "Four.")


@scenario("J")
def usage() -> None:
    spent = helper()(HELLO).metrics.accumulated_usage
    same((spent["outputTokens"], spent["inputTokens"] > 0), (2, True))


run()
