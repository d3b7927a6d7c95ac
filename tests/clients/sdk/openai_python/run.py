"""The official Python client: `run.py chat` or `run.py responses`."""

import json
import sys
from typing import Any

import openai
import pydantic
from scenarios import (
    BASE_URL,
    HELLO,
    MODEL,
    ONE_TOOL,
    PERSON,
    PING,
    SCHEMAS,
    SECRET,
    TASK,
    THINK,
    TOOLS,
    TWO_CALLS,
    broken_off,
    meets_failures,
    run,
    same,
    scenario,
)

client = openai.OpenAI(base_url=BASE_URL, api_key="unused", timeout=120)


class Person(pydantic.BaseModel):
    name: str
    age: int


def status_of(error: Any) -> int | None:
    return getattr(error, "status_code", None)


class Chat:
    def __init__(self) -> None:
        self.tools: Any = [
            {"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in SCHEMAS.items()
        ]

    def ask(self, text: str, model: str = MODEL, **fields: Any) -> Any:
        messages = [{"role": "user", "content": text}]
        return client.chat.completions.create(model=model, messages=messages, **fields)

    def streamed(self, messages: Any, **fields: Any) -> Any:
        """The message that the client's accumulator makes of the stream."""
        messages = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        options = {"model": MODEL, "stream_options": {"include_usage": True}} | fields
        with client.chat.completions.stream(messages=messages, **options) as stream:
            return stream.get_final_completion()

    def calls(self, completion: Any) -> list[Any]:
        return [(call.function.name, json.loads(call.function.arguments)) for call in completion.choices[0].message.tool_calls]

    def until_answered(self, text: str) -> str:
        messages: list[Any] = [{"role": "user", "content": text}]
        for _ in range(3):
            message = self.streamed(messages, tools=self.tools).choices[0].message
            if not message.tool_calls:
                return str(message.content)
            messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            for call in message.tool_calls:
                result = TOOLS[call.function.name](**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        raise AssertionError("no answer")

    def person(self) -> Any:
        messages: list[Any] = [{"role": "user", "content": PERSON}]
        parsed = client.chat.completions.parse(model=MODEL, messages=messages, response_format=Person)
        same(self.streamed(PERSON, response_format=Person).choices[0].message.parsed, parsed.choices[0].message.parsed)
        return parsed.choices[0].message.parsed

    def forced(self) -> list[Any]:
        named = {"type": "function", "function": {"name": "get_weather"}}
        same(self.calls(self.ask(ONE_TOOL, tools=self.tools, tool_choice=named)), [("get_weather", {"city": "Oslo"})])
        return self.calls(self.ask(ONE_TOOL, tools=self.tools, tool_choice="required"))

    def cut_off(self) -> Any:
        return self.streamed(HELLO, model="dies")

    def thinking(self) -> tuple[str, str]:
        message = self.streamed(THINK).choices[0].message
        return message.model_extra["reasoning_content"], message.content

    def usage(self) -> tuple[int, int, int]:
        usage = self.streamed(HELLO).usage
        return usage.prompt_tokens, usage.completion_tokens, usage.total_tokens


class Responses:
    def __init__(self) -> None:
        self.tools: Any = [
            {"type": "function", "name": name, "parameters": schema, "strict": True} for name, schema in SCHEMAS.items()
        ]

    def ask(self, text: str, model: str = MODEL, **fields: Any) -> Any:
        return client.responses.create(model=model, input=text, **fields)

    def streamed(self, items: Any, **fields: Any) -> Any:
        with client.responses.stream(input=items, **{"model": MODEL} | fields) as stream:
            for _ in stream:
                pass
            return stream.get_final_response()

    def calls(self, response: Any) -> list[Any]:
        return [(item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"]

    def until_answered(self, text: str) -> str:
        response = self.streamed(text, tools=self.tools)
        for _ in range(3):
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return str(response.output_text)
            results = [
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": TOOLS[call.name](**json.loads(call.arguments)),
                }
                for call in calls
            ]
            response = self.streamed(results, previous_response_id=response.id, tools=self.tools)
        raise AssertionError("no answer")

    def person(self) -> Any:
        parsed = client.responses.parse(model=MODEL, input=PERSON, text_format=Person).output_parsed
        same(self.streamed(PERSON, text_format=Person).output_parsed, parsed)
        return parsed

    def forced(self) -> list[Any]:
        named = {"type": "function", "name": "get_weather"}
        same(self.calls(self.ask(ONE_TOOL, tools=self.tools, tool_choice=named)), [("get_weather", {"city": "Oslo"})])
        return self.calls(self.ask(ONE_TOOL, tools=self.tools, tool_choice="required"))

    def cut_off(self) -> Any:
        events = client.responses.create(model="dies", input=HELLO, stream=True)
        (error,) = [event.response.error for event in events if event.type == "response.failed"]
        raise RuntimeError(error.message)

    def thinking(self) -> tuple[str, str]:
        response = self.streamed(THINK)
        (item,) = [item for item in response.output if item.type == "reasoning"]
        return item.content[0].text, response.output_text

    def usage(self) -> tuple[int, int, int]:
        usage = self.streamed(HELLO).usage
        return usage.input_tokens, usage.output_tokens, usage.total_tokens


api: Any = Chat() if sys.argv[1] == "chat" else Responses()


@scenario("A")
def one_tool() -> None:
    same(api.calls(api.streamed(ONE_TOOL, tools=api.tools)), [("get_weather", {"city": "Oslo"})])


@scenario("B")
def two_calls() -> None:
    both = [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Rome"})]
    same(api.calls(api.streamed(TWO_CALLS, tools=api.tools)), both)
    same("degrees" in api.until_answered(TWO_CALLS), True)


@scenario("C")
def task() -> None:
    same(SECRET in api.until_answered(TASK), True)


@scenario("D")
def structured() -> None:
    same(api.person(), Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    same(api.forced(), [("get_weather", {"city": "Oslo"})])


@scenario("F")
def failures() -> str:
    return meets_failures(lambda model: api.ask(HELLO, model), status_of)


@scenario("G")
def mid_stream() -> str:
    return broken_off(api.cut_off)


@scenario("H")
def reasoning() -> None:
    thought, answer = api.thinking()
    same((thought.strip(), answer.strip()), ("Two and two are four.", "Four."))


@scenario("I")
def no_arguments() -> None:
    same(api.calls(api.streamed(PING, tools=api.tools)), [("ping", {})])
    same(api.until_answered(PING), "The server is up.")


@scenario("J")
def usage() -> None:
    asked, answered, both = api.usage()
    same((answered, both, asked > 0), (2, asked + 2, True))


run()
