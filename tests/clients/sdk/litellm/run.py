"""LiteLLM's SDK: `run.py chat`, `run.py responses` or `run.py messages`."""

import asyncio
import json
import os
import sys
from typing import Any, ClassVar

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it fetches prices when it is imported

import litellm
from scenarios import (
    BASE_URL,
    HELLO,
    MODEL,
    ONE_TOOL,
    OSLO,
    PERSON,
    PERSON_SCHEMA,
    ROOT,
    SCHEMAS,
    THINK,
    TOOLS,
    agent,
    run,
    same,
    scenario,
)

litellm.suppress_debug_info = True
loop = asyncio.Runner()
TURNS = 3


class Chat:
    tools: ClassVar[Any] = [
        {"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in SCHEMAS.items()
    ]

    def ask(self, messages: Any, name: str = MODEL, **options: Any) -> Any:
        """The message that its builder makes of the stream."""
        given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        where: Any = {"api_base": BASE_URL, "api_key": "unused", "stream": True, "stream_options": {"include_usage": True}}
        return litellm.stream_chunk_builder(list(litellm.completion(f"openai/{name}", given, **where, **options)))

    def says(self, text: str, name: str) -> str:
        messages: list[Any] = [{"role": "user", "content": text}]
        for _ in range(TURNS):
            message = self.ask(messages, name, tools=self.tools).choices[0].message
            if not message.tool_calls:
                return str(message.content)
            messages.append(message)
            for call in message.tool_calls:
                result = TOOLS[call.function.name](**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        raise AssertionError("no answer")

    def person(self) -> str:
        schema = {"name": "person", "strict": True, "schema": PERSON_SCHEMA}
        response_format = {"type": "json_schema", "json_schema": schema}
        return str(self.ask(PERSON, response_format=response_format).choices[0].message.content)

    def forced(self) -> list[Any]:
        choices: list[Any] = ["required", {"type": "function", "function": {"name": "get_weather"}}]
        answers = [self.ask(ONE_TOOL, tools=self.tools, tool_choice=choice) for choice in choices]
        calls = [call for answer in answers for call in answer.choices[0].message.tool_calls]
        return [(call.function.name, json.loads(call.function.arguments)) for call in calls]

    def thinking(self) -> tuple[str, str]:
        message = self.ask(THINK).choices[0].message
        return message.reasoning_content, message.content

    def usage(self) -> tuple[int, int]:
        usage = self.ask(HELLO).usage
        return usage.prompt_tokens, usage.completion_tokens


class Responses:
    tools: ClassVar[Any] = [{"type": "function", "name": name, "parameters": schema} for name, schema in SCHEMAS.items()]

    def ask(self, items: Any, name: str = MODEL, **options: Any) -> Any:
        where: Any = {"api_base": BASE_URL, "api_key": "unused", "stream": True}
        *_, last = litellm.responses(model=f"openai/{name}", input=items, **where, **options)
        if last.type != "response.completed":
            raise RuntimeError(last)
        return last.response

    def calls(self, response: Any) -> list[Any]:
        return [item for item in response.output if item.type == "function_call"]

    def says(self, text: str, name: str) -> str:
        response = self.ask(text, name, tools=self.tools)
        for _ in range(TURNS):
            if not self.calls(response):
                return str(response.output_text)
            results = [
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": TOOLS[call.name](**json.loads(call.arguments)),
                }
                for call in self.calls(response)
            ]
            response = self.ask(results, name, tools=self.tools, previous_response_id=response.id)
        raise AssertionError("no answer")

    def person(self) -> str:
        form = {"type": "json_schema", "name": "person", "strict": True, "schema": PERSON_SCHEMA}
        return str(self.ask(PERSON, text={"format": form}).output_text)

    def forced(self) -> list[Any]:
        choices: list[Any] = ["required", {"type": "function", "name": "get_weather"}]
        answers = [self.ask(ONE_TOOL, tools=self.tools, tool_choice=choice) for choice in choices]
        return [(call.name, json.loads(call.arguments)) for answer in answers for call in self.calls(answer)]

    def thinking(self) -> tuple[str, str]:
        response = self.ask(THINK)
        thought = next(item for item in response.output if item.type == "reasoning")
        return "".join(part["text"] if isinstance(part, dict) else part.text for part in thought.content), response.output_text

    def usage(self) -> tuple[int, int]:
        usage = self.ask(HELLO).usage
        return usage.input_tokens, usage.output_tokens


class Messages:
    tools: ClassVar[Any] = [{"name": name, "input_schema": schema} for name, schema in SCHEMAS.items()]

    def ask(self, messages: Any, name: str = MODEL, **options: Any) -> Any:
        given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages

        async def work() -> Any:
            where: Any = {"api_base": ROOT, "api_key": "unused", "max_tokens": 2000}
            return await litellm.anthropic.messages.acreate(model=f"anthropic/{name}", messages=given, **where, **options)

        return loop.run(work())

    def calls(self, message: Any) -> list[Any]:
        return [block for block in message["content"] if block["type"] == "tool_use"]

    def text(self, message: Any) -> str:
        return "".join(block["text"] for block in message["content"] if block["type"] == "text")

    def says(self, text: str, name: str) -> str:
        messages: list[Any] = [{"role": "user", "content": text}]
        for _ in range(TURNS):
            message = self.ask(messages, name, tools=self.tools)
            if not self.calls(message):
                return self.text(message)
            results = [
                {"type": "tool_result", "tool_use_id": call["id"], "content": TOOLS[call["name"]](**call["input"])}
                for call in self.calls(message)
            ]
            messages += [{"role": "assistant", "content": message["content"]}, {"role": "user", "content": results}]
        raise AssertionError("no answer")

    def person(self) -> str:
        form = {"type": "json_schema", "schema": PERSON_SCHEMA}
        return self.text(self.ask(PERSON, output_format=form))

    def forced(self) -> list[Any]:
        choices: list[Any] = [{"type": "any"}, {"type": "tool", "name": "get_weather"}]
        answers = [self.ask(ONE_TOOL, tools=self.tools, tool_choice=choice) for choice in choices]
        return [(call["name"], call["input"]) for answer in answers for call in self.calls(answer)]

    def thinking(self) -> tuple[str, str]:
        message = self.ask(THINK, thinking={"type": "enabled", "budget_tokens": 1024})
        thought = next(block["thinking"] for block in message["content"] if block["type"] == "thinking")
        return thought, self.text(message)

    def usage(self) -> tuple[int, int]:
        usage = self.ask(HELLO)["usage"]
        return usage["input_tokens"], usage["output_tokens"]


api: Any = {"chat": Chat, "responses": Responses, "messages": Messages}[sys.argv[1]]()
agent(api.says, retries=sys.argv[1] == "chat")


@scenario("D")
def structured() -> None:
    same(json.loads(api.person()), {"name": "Anna", "age": 31})


@scenario("E")
def forced() -> None:
    same(api.forced(), [OSLO, OSLO])


@scenario("H")
def reasoning() -> None:
    same([part.strip() for part in api.thinking()], ["Two and two are four.", "Four."])


@scenario("J")
def usage() -> None:
    read, written = api.usage()
    same((read > 0, written), (True, 2))


run()
