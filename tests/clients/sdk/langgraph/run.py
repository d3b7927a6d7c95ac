"""LangGraph: a graph of one's own, with the node for tools that it brings."""

from typing import Any

import pydantic
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from scenarios import BASE_URL, HELLO, MODEL, ONE_TOOL, OSLO, PERSON, THINK, TOOLS, agent, called, not_read, run, same, scenario

tools = [tool(function) for function in TOOLS.values()]


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def model(name: str = MODEL) -> Any:
    return ChatOpenAI(model=name, base_url=BASE_URL, api_key="unused", timeout=120, stream_usage=True)  # type: ignore[arg-type]


def graph(asked: Any, *, ends: bool = False) -> Any:
    """Asks, runs the tools that are called, and asks anew unless it `ends` there."""

    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [asked.invoke(state["messages"])]}

    built: Any = StateGraph(MessagesState)
    built.add_node("ask", ask)
    built.add_node("tools", ToolNode(tools))
    built.add_edge(START, "ask")
    built.add_conditional_edges("ask", tools_condition)
    if not ends:
        built.add_edge("tools", "ask")
    return built.compile()


def streamed(graph: Any, text: str) -> tuple[str, Any]:
    """The text of the tokens that the graph streams, and its last message."""
    text_of, last = "", None
    for kind, part in graph.stream({"messages": [("user", text)]}, stream_mode=["messages", "values"]):
        if kind == "messages" and part[0].type == "AIMessageChunk":
            text_of += part[0].text
        elif kind == "values":
            last = part["messages"][-1]
    return text_of, last


agent(lambda text, name: streamed(graph(model(name).bind_tools(tools)), text)[0])


@scenario("D")
def structured() -> None:
    same(model().with_structured_output(Person).invoke(PERSON), Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    for choice in ("required", "get_weather"):
        called.clear()
        streamed(graph(model().bind_tools(tools, tool_choice=choice), ends=True), ONE_TOOL)
        same(called, [OSLO])


@scenario("H")
def reasoning() -> str:
    return not_read(streamed(graph(model()), THINK)[0])


@scenario("J")
def usage() -> None:
    spent = streamed(graph(model()), HELLO)[1].usage_metadata
    same((spent["output_tokens"], spent["input_tokens"] > 0), (2, True))


run()
