"""DSPy: calls in the API's own words, agents and structured output in its texts."""

import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it fetches prices when it is imported

import dspy
import litellm
from scenarios import (
    BASE_URL,
    HELLO,
    MODEL,
    ONE_TOOL,
    OSLO,
    PERSON,
    PING,
    ROME,
    SECRET,
    TASK,
    THINK,
    TOOLS,
    TWO_CALLS,
    broken_off,
    lacks,
    meets_failures,
    run,
    same,
    scenario,
    status_of,
)

tools = [dspy.Tool(function) for function in TOOLS.values()]


class Asking(dspy.Signature):
    """Answer the question by calls."""

    question: str = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    outputs: dspy.ToolCalls = dspy.OutputField()


litellm.register_model({f"openai/{MODEL}": {"litellm_provider": "openai", "mode": "chat", "supports_function_calling": True}})


def model(name: str = MODEL, **options: Any) -> Any:
    return dspy.LM(f"openai/{name}", api_base=BASE_URL, api_key="unused", cache=False, **options)


dspy.configure(lm=model(), adapter=dspy.JSONAdapter(use_native_function_calling=True))


def calls(text: str) -> list[Any]:
    # Its own engine has no tools for models that it does not know; LiteLLM's has them once it is told.
    with dspy.context(lm=model(engine="litellm")):
        answer = dspy.Predict(Asking)(question=text, tools=tools)
    return [(call.name, call.args) for call in answer.outputs.tool_calls]


lacks(E="it cannot force a call")


@scenario("A")
def one_tool() -> None:
    same(calls(ONE_TOOL), [OSLO])


@scenario("B")
def two_calls() -> None:
    same(calls(TWO_CALLS), [OSLO, ROME])


@scenario("C")
def task() -> None:
    with dspy.context(adapter=dspy.JSONAdapter()):
        same(SECRET in dspy.ReAct("question -> answer", tools=tools)(question=TASK).answer, True)


@scenario("D")
def structured() -> None:
    answer = dspy.Predict("question -> name: str, age: int")(question=PERSON)
    same((answer.name, answer.age), ("Anna", 31))


@scenario("F")
def failures() -> str:
    return meets_failures(lambda name: model(name)(HELLO), status_of)


@scenario("G")
def mid_stream() -> str:
    return broken_off(lambda: model("dies")(HELLO))


@scenario("H")
def reasoning() -> None:
    (answer,) = model()(THINK)
    same((answer["reasoning_content"].strip(), answer["text"].strip()), ("Two and two are four.", "Four."))


@scenario("I")
def no_arguments() -> None:
    same(calls(PING), [("ping", {})])


@scenario("J")
def usage() -> None:
    lm = model()
    lm(HELLO)
    spent = lm.history[-1]["usage"]
    same((spent["completion_tokens"], spent["prompt_tokens"] > 0), (2, True))


run()
