"""Which clients are tried, in which versions, and how a user points each at the gateway."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SDK = HERE / "sdk"
AGENTS = HERE / "agents"
SCENARIOS = {
    "A": "a streamed call",
    "B": "two calls in one turn, and their results",
    "C": "the task: read a file through a tool, then answer from it",
    "D": "structured output",
    "E": "a call that is forced",
    "F": "errors before the first byte, and how often the engine was asked",
    "G": "an engine that dies in mid-stream",
    "H": "thinking, apart from the answer",
    "I": "a tool without arguments",
    "J": "usage",
}


@dataclass(frozen=True)
class Client:
    """One way to use one client."""

    name: str
    api: str
    pins: Path
    """The requirements file or package.json that it is installed from; its first entry is the client itself."""
    argument: str = ""
    """What its script is told."""

    @property
    def environment(self) -> str:
        """The name of the folder it is installed into."""
        suffix = self.pins.stem.removeprefix("requirements").removeprefix("package")
        return self.pins.parent.name + suffix

    @property
    def key(self) -> str:
        return f"{self.name} ({self.api})"

    @property
    def version(self) -> str:
        """The version that is pinned."""
        return next(iter(pinned(self.pins).values()))

    @property
    def script(self) -> Path:
        return self.pins.parent / ("run.mjs" if self.pins.suffix == ".json" else "run.py")


def pinned(pins: Path) -> dict[str, str]:
    """Packages and their versions."""
    text = pins.read_text(encoding="utf-8")
    if pins.suffix == ".json":
        return dict(json.loads(text)["dependencies"])
    return dict(re.findall(r"^([^=\s]+)==(\S+)$", text, re.MULTILINE))


def sdk(name: str, folder: str, pins: str, **variants: str) -> list[Client]:
    """A client once for each API; the script's argument by the API's name."""
    return [Client(name, api.replace("_", " "), SDK / folder / pins, argument) for api, argument in variants.items()]


PYTHON, NODE = "requirements.txt", "package.json"
SDKS: list[Client] = [
    *sdk("openai (Python) 3", "openai_python", "requirements-3.txt", Chat="chat", Responses="responses"),
    *sdk("openai (Python) 2", "openai_python", "requirements-2.txt", Chat="chat", Responses="responses"),
    *sdk("openai (Python) 1", "openai_python", "requirements-1.txt", Chat="chat", Responses="responses"),
    *sdk("LangChain", "langchain", PYTHON, Chat="chat", Responses="responses"),
    *sdk("Pydantic AI", "pydantic_ai", PYTHON, Chat="chat", Responses="responses", Messages="messages"),
    *sdk("OpenAI Agents SDK", "openai_agents", PYTHON, Chat="chat", Responses="responses"),
    *sdk("anthropic (Python)", "anthropic_python", PYTHON, Messages=""),
    *sdk("openai (Node)", "openai_node", NODE, Chat="chat", Responses="responses"),
    *sdk("AI SDK, openai-compatible", "ai_sdk", NODE, Chat="compatible"),
    *sdk("AI SDK, openai", "ai_sdk", NODE, Chat="chat", Responses="responses"),
    *sdk("AI SDK, anthropic", "ai_sdk", NODE, Messages="messages"),
    *sdk("@anthropic-ai/sdk (Node)", "anthropic_node", NODE, Messages=""),
]
"""Tried on every change."""
FRAMEWORKS: list[Client] = [
    *sdk("LangChain, anthropic", "langchain_anthropic", PYTHON, Messages=""),
    *sdk("LangGraph", "langgraph", PYTHON, Chat=""),
    *sdk("LiteLLM", "litellm", PYTHON, Chat="chat", Responses="responses", Messages="messages"),
    *sdk("LiteLLM proxy", "litellm_proxy", PYTHON, Chat="chat", Responses="responses"),
    *sdk("instructor", "instructor", PYTHON, Chat="chat", Responses="responses"),
    *sdk("Mirascope", "mirascope", PYTHON, Chat="chat", Responses="responses", Messages="messages"),
    *sdk("LlamaIndex", "llama_index", PYTHON, Chat=""),
    *sdk("Haystack", "haystack", PYTHON, Chat=""),
    *sdk("Semantic Kernel", "semantic_kernel", PYTHON, Chat=""),
    *sdk("AutoGen", "autogen", PYTHON, Chat=""),
    *sdk("Strands Agents", "strands", PYTHON, Chat=""),
    *sdk("smolagents", "smolagents", PYTHON, Chat=""),
    *sdk("CrewAI", "crewai", PYTHON, Chat=""),
    *sdk("Google ADK", "google_adk", PYTHON, Chat=""),
    *sdk("DSPy", "dspy", PYTHON, Chat=""),
    *sdk("Agno", "agno", PYTHON, Chat=""),
    *sdk("Marvin", "marvin", PYTHON, Chat=""),
    *sdk("mcp-agent", "mcp_agent", PYTHON, Chat=""),
    *sdk("llm", "llm", PYTHON, Chat="chat", Responses="responses"),
    *sdk("LangChain (Node)", "langchain_node", NODE, Chat="chat", Responses="responses"),
    *sdk("OpenAI Agents SDK (Node)", "openai_agents_node", NODE, Chat="chat", Responses="responses"),
]
"""Tried when somebody asks for all."""
