"""The request body, field by field: shape only. What a block or a tool of some type must have is looked at when it is decoded."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from gateway.protocols.wire import MOST_STOPS, Body, Effort, Natural, Positive, Share, Temperature, Text, ToolName, text_or_parts


class Source(Body):
    """Where a document's text is."""

    type: str
    data: str | None = None


class Block(Body):
    """One part of a message, of any type."""

    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    is_error: bool = False
    content: Any = None
    source: Any = None
    title: str | None = None
    tool_name: str | None = None


Content = Annotated[
    Text | Annotated[list[Block], Tag("(parts)")],
    Discriminator(text_or_parts, "wrong_type", "Input should be a string or an array of content blocks"),
]


class Result(Body):
    """What a tool gave back, as far as it is for the model."""

    content: Content = ""


class Message(Body):
    """One message. `system` stands in the conversation where clients change the rules half way."""

    role: Literal["user", "assistant", "system"]
    content: Content


class Tool(Body):
    """A tool that the client runs, unless `type` names one of Anthropic's own."""

    type: str = "custom"
    name: ToolName | None = None
    description: str = ""
    input_schema: dict[str, Any] | None = None
    strict: bool = False


class ToolChoice(Body):
    """`name` must be there for type `tool`."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool = False


class Thinking(Body):
    """Whether the model may think before it answers."""

    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: Natural | None = None


class Format(Body):
    """What the answer's text must look like."""

    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class OutputConfig(Body):
    """How hard to think, and what the answer must look like."""

    effort: Effort | None = None
    format: Format | None = None


class CountTokensRequest(Body):
    """The fields that reach the prompt."""

    model: str
    messages: Annotated[list[Message], Field(min_length=1)]
    system: Content = ""
    tools: list[Tool] = Field(default_factory=list)
    tool_choice: ToolChoice | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    output_format: Format | None = None
    strict_history: bool = False


class MessagesRequest(CountTokensRequest):
    """The fields that have an effect. Those that are accepted without one are listed in `decode.py`."""

    max_tokens: Positive
    stream: bool = False
    stop_sequences: list[str] = Field(default_factory=list, max_length=MOST_STOPS)
    temperature: Temperature | None = None
    top_p: Share | None = None
    top_k: Natural | None = None
