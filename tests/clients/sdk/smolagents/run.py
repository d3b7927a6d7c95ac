"""smolagents: its agent that calls tools."""

import json
from typing import Any

from scenarios import (
    BASE_URL,
    HELLO,
    MODEL,
    ONE_TOOL,
    OSLO,
    PERSON,
    PERSON_SCHEMA,
    TOOLS,
    agent,
    lacks,
    run,
    same,
    scenario,
)
from smolagents import OpenAIServerModel, ToolCallingAgent, tool
from smolagents.models import ChatMessage, MessageRole, agglomerate_stream_deltas

tools = [tool(function) for function in TOOLS.values()]


def model(name: str = MODEL) -> Any:
    # It would ask for minutes if it were let.
    return OpenAIServerModel(name, api_base=BASE_URL, api_key="unused", retry=False)


def says(text: str, name: str) -> str:
    helper = ToolCallingAgent(tools=tools, model=model(name), stream_outputs=True, verbosity_level=0, max_steps=3)
    return str(helper.run(text))


def ask(text: str, **options: Any) -> Any:
    return model().generate([ChatMessage(role=MessageRole.USER, content=text)], **options)


def streamed(text: str, name: str = MODEL) -> Any:
    return agglomerate_stream_deltas(list(model(name).generate_stream([ChatMessage(role=MessageRole.USER, content=text)])))


agent(says, asks=streamed)
lacks(H="it does not read the thinking of chat completions")


@scenario("D")
def structured() -> None:
    schema = {"name": "person", "strict": True, "schema": PERSON_SCHEMA}
    answer = ask(PERSON, response_format={"type": "json_schema", "json_schema": schema})
    same(json.loads(answer.content), {"name": "Anna", "age": 31})


@scenario("E")
def forced() -> None:
    (call,) = ask(ONE_TOOL, tools_to_call_from=tools).tool_calls
    same((call.function.name, json.loads(call.function.arguments)), OSLO)


@scenario("J")
def usage() -> None:
    spent = streamed(HELLO).token_usage
    same((spent.output_tokens, spent.input_tokens > 0), (2, True))


run()
