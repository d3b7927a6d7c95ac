"""Marvin, which works through Pydantic AI."""

import os
from functools import wraps
from typing import Any

os.environ |= {"OPENAI_API_KEY": "unused", "MARVIN_LOG_LEVEL": "CRITICAL"}

import marvin
import pydantic
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from scenarios import BASE_URL, MODEL, PERSON, TOOLS, agent, lacks, run, same, scenario


class Person(pydantic.BaseModel):
    name: str
    age: int


def helper(name: str = MODEL) -> Any:
    model = OpenAIChatModel(name, provider=OpenAIProvider(base_url=BASE_URL, api_key="unused"))
    return marvin.Agent(name="Helper", model=model, tools=[ending_by_call(function) for function in TOOLS.values()])


def ending_by_call(function: Any) -> Any:
    """The tool, with a mark in its result: the model is to answer by the call that ends Marvin's tasks."""

    @wraps(function)
    def tool(**arguments: str) -> str:
        return f"Task: {function(**arguments)}"

    return tool


def says(text: str, name: str = MODEL, kind: Any = str) -> Any:
    task: Any = marvin.Task(f"Task: {text}", result_type=kind, agents=[helper(name)])
    task.id = "task"  # which is in the name of the call that ends it
    return task.run(handlers=[])


agent(says, retries=False)  # the engine that was busy does not end the task by a call either
lacks(E="every request of a task demands a call, as A shows", H="it does not show thinking", J="it does not tell")


@scenario("D")
def structured() -> None:
    same(says(PERSON, kind=Person), Person(name="Anna", age=31))


run()
