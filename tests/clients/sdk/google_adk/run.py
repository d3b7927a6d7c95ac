"""Google's ADK, through LiteLLM."""

import asyncio
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it fetches prices when it is imported

import pydantic
from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types
from scenarios import BASE_URL, HELLO, MODEL, ONE_TOOL, OSLO, PERSON, THINK, TOOLS, agent, called, failure, run, same, scenario

loop = asyncio.Runner()


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def events(text: str, name: str = MODEL, *, most: int = 5, **options: Any) -> list[Any]:
    async def work() -> Any:
        model = LiteLlm(f"openai/{name}", api_base=BASE_URL, api_key="unused")
        helper = Agent(**{"name": "helper", "model": model, "tools": list(TOOLS.values())} | options)
        runner = InMemoryRunner(helper, app_name="test")
        session = await runner.session_service.create_session(app_name="test", user_id="anna")
        message = types.Content(role="user", parts=[types.Part(text=text)])
        config = RunConfig(streaming_mode=StreamingMode.SSE, max_llm_calls=most)
        run = runner.run_async(user_id="anna", session_id=session.id, new_message=message, run_config=config)
        return [event async for event in run]

    return loop.run(work())


def says(text: str, name: str = MODEL, **options: Any) -> str:
    last = events(text, name, **options)[-1]
    if last.error_message:
        raise RuntimeError(last.error_message)
    return "".join(part.text for part in last.content.parts if part.text and not part.thought)


agent(says)


@scenario("D")
def structured() -> None:
    same(Person.model_validate_json(says(PERSON, tools=[], output_schema=Person)), Person(name="Anna", age=31))


@scenario("E")
def forced() -> None:
    called.clear()
    config = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY)
    required = types.GenerateContentConfig(tool_config=types.ToolConfig(function_calling_config=config))
    # Or the answer would have to be a call as well.
    failure(lambda: events(ONE_TOOL, most=1, generate_content_config=required))
    same(called, [OSLO])


@scenario("H")
def reasoning() -> None:
    thought, answer = events(THINK)[-1].content.parts
    same((thought.thought, thought.text.strip()), (True, "Two and two are four."))
    same(answer.text.strip(), "Four.")


@scenario("J")
def usage() -> None:
    spent = events(HELLO)[-1].usage_metadata
    same((spent.candidates_token_count, spent.prompt_token_count > 0), (2, True))


run()
