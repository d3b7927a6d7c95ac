"""Mirascope: `run.py chat`, `run.py responses` or `run.py messages`."""

import sys
from typing import Any

import pydantic
from mirascope import llm
from scenarios import BASE_URL, HELLO, MODEL, PERSON, ROOT, THINK, TOOLS, agent, lacks, not_read, run, same, scenario

API = sys.argv[1]
tools = [llm.tool(function) for function in TOOLS.values()]
llm.register_provider("openai", base_url=BASE_URL, api_key="unused")
llm.register_provider("anthropic", base_url=ROOT, api_key="unused")


class Person(pydantic.BaseModel):
    name: str
    age: int


def model(name: str = MODEL, **options: Any) -> Any:
    ids = {"chat": f"openai/{name}:completions", "responses": f"openai/{name}:responses", "messages": f"anthropic/{name}"}
    return llm.model(ids[API], **options)


def says(text: str, name: str) -> str:
    stream = model(name).stream(text, tools=tools)
    stream.finish()
    while stream.tool_calls:
        stream = stream.resume(stream.execute_tools())
        stream.finish()
    return str(stream.text())


agent(says)
lacks(E="it cannot force a call")


@scenario("D")
def structured() -> None:
    same(model().call(PERSON, format=llm.format(Person, mode="strict")).parse(), Person(name="Anna", age=31))


@scenario("H")
def reasoning() -> str:
    stream = model(thinking={"level": "medium", "include_thoughts": True}).stream(THINK)
    stream.finish()
    if API == "chat":
        return not_read(stream.text())
    same([thought.thought.strip() for thought in stream.thoughts], ["Two and two are four."])
    same(stream.text().strip(), "Four.")
    return ""


@scenario("J")
def usage() -> None:
    stream = model().stream(HELLO)
    stream.finish()
    same((stream.usage.output_tokens, stream.usage.input_tokens > 0), (2, True))


run()
