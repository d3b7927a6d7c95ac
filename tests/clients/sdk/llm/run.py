"""Simon Willison's llm, as a library: `run.py chat` or `run.py responses`."""

import json
import sys
from typing import Any

import pydantic
from llm.default_plugins.openai_models import Chat, Responses
from scenarios import BASE_URL, HELLO, MODEL, PERSON, THINK, TOOLS, agent, fails, lacks, not_read, run, same, scenario

CHAT = sys.argv[1] == "chat"


class Person(pydantic.BaseModel):
    name: str
    age: int


def model(name: str = MODEL) -> Any:
    kind = Chat if CHAT else Responses
    return kind(name, key="unused", api_base=BASE_URL, supports_tools=True, supports_schema=True, reasoning=True)


agent(lambda text, name: model(name).chain(text, tools=list(TOOLS.values()), key="unused").text())
lacks(E="it cannot force a call")
if not CHAT:
    fails(
        G="it takes half an answer for a whole one: of the last events it reads `response.completed` alone, not `response.failed`"
    )


@scenario("D")
def structured() -> None:
    same(json.loads(model().prompt(PERSON, schema=Person, key="unused").text()), {"name": "Anna", "age": 31})


@scenario("H")
def reasoning() -> str:
    response = model().prompt(THINK, key="unused")
    thought = "".join(event.chunk for event in response.stream_events() if event.type == "reasoning")
    if CHAT:
        return not_read(response.text())
    same((thought.strip(), response.text().strip()), ("Two and two are four.", "Four."))
    return ""


@scenario("J")
def usage() -> None:
    response = model().prompt(HELLO, key="unused")
    response.text()
    spent = response.usage()
    same((spent.output, spent.input > 0), (2, True))


run()
