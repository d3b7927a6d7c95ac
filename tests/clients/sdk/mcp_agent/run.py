"""mcp-agent."""

import asyncio
from typing import Any

import pydantic
from mcp_agent.agents.agent import Agent
from mcp_agent.app import MCPApp
from mcp_agent.config import LoggerSettings, OpenAISettings, Settings
from mcp_agent.workflows.llm.augmented_llm import RequestParams
from mcp_agent.workflows.llm.augmented_llm_openai import OpenAIAugmentedLLM
from scenarios import BASE_URL, MODEL, PERSON, TOOLS, agent, fails, lacks, run, same, scenario

loop = asyncio.Runner()


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def ask(text: str, name: str = MODEL, *, method: str = "generate_str", **options: Any) -> Any:
    async def work() -> Any:
        provider = OpenAISettings(api_key="unused", base_url=BASE_URL, default_model=name)
        settings = Settings(execution_engine="asyncio", logger=LoggerSettings(type="none"), openai=provider)
        helper = Agent(name="helper", instruction="Help.", functions=list(TOOLS.values()))
        async with MCPApp(name="test", settings=settings).run(), helper:
            model = await helper.attach_llm(OpenAIAugmentedLLM)
            return await getattr(model, method)(text, request_params=RequestParams(model=name), **options)

    return loop.run(work())


agent(ask)
lacks(
    E="it cannot force a call",
    H="it does not read the thinking of chat completions",
    J="it counts tokens for its traces only",
)
fails(
    F="it logs every error and gives an empty answer instead",
    G="it does not stream; of the error it is sent instead it makes an empty answer",
)


@scenario("D")
def structured() -> None:
    same(ask(PERSON, method="generate_structured", response_model=Person), Person(name="Anna", age=31))


run()
