"""The protocol-free conversation: what every client protocol is decoded into."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from parsers import Tool

from .history import Fault

ToolMode = Literal["none", "auto", "required", "named"]


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which calls the answer may or must contain. `name` is set for mode `named` only.

    `allowed` narrows `auto` and `required` to some of the tools; all of them stay in the prompt. None = all.
    """

    mode: ToolMode = "auto"
    name: str | None = None
    allowed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """How the content must look. `schema` is set for `json_schema` only."""

    kind: Literal["text", "json_object", "json_schema"] = "text"
    schema: Mapping[str, Any] | None = None
    name: str = "response"
    strict: bool = False
    """Its schema keeps OpenAI's rules for strict ones, and the answer is held to it."""
    held: bool = False
    """The answer is held to the schema, whatever rules that keeps."""
    place: str = "response_format"
    """Where the client wrote it, for errors about its schema."""
    code: str | None = None
    """The code of such errors; OpenAI's Chat has none."""

    @property
    def binding(self) -> bool:
        """Whether an answer that breaks it is a failure."""
        return self.strict or self.held or self.kind == "json_object"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the engine samples. None = the engine's default. `engine_extras` are passed on as they came (top_k, min_p ...)."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    seed: int | None = None
    n: int = 1
    stop: tuple[str, ...] = ()
    top_logprobs: int | None = None
    """None = no log probabilities; 0 = those of the chosen tokens only."""
    logit_bias: Mapping[str, float] | None = None
    engine_extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One turn to be taken.

    `messages` have OpenAI's Chat shape (role, content, tool_calls, tool_call_id ...) with legacy forms already replaced;
    the renderer adapts them to the model's template.
    """

    model: str
    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = ToolChoice()
    parallel_tool_calls: bool = True
    response_format: ResponseFormat = ResponseFormat()
    sampling: Sampling = Sampling()
    template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    """What was broken in earlier turns and has been healed."""
    continues: bool = False
    """The last message is an assistant's without calls, and the turn to be taken is the rest of it."""
    truncates: bool = False
    """The oldest turns may be left out where the conversation does not fit the context."""
    strict_history: bool = False
    """The client wants a broken earlier turn refused instead of healed, whatever the model's entry says."""
    warnings: tuple[str, ...] = ()
    """What was accepted but has no effect; sent to the client as `x-toolwire-warnings`."""
    pinned: tuple[str, ...] = ()
    """Names of tools that are shown also where there is no room for all."""
    tool_places: tuple[str, ...] = ()
    """Where the client wrote the parameters of each tool, for errors about them; empty: as Chat does, tool after tool."""

    def place_of_tool(self, index: int) -> str:
        """The request field that holds this tool's parameters."""
        return self.tool_places[index] if self.tool_places else f"tools[{index}].function.parameters"
