"""The request body, field by field: shape only."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from gateway.protocols.wire import (
    Body,
    Effort,
    EngineExtras,
    LogitBias,
    Penalty,
    Positive,
    Seed,
    Share,
    Stop,
    Temperature,
    Text,
    ToolName,
    text_or_object,
    text_or_parts,
)

SchemaName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$", max_length=64)]


Content = Annotated[
    Text | Annotated[list[dict[str, Any]], Tag("(parts)")],
    Discriminator(text_or_parts, "wrong_type", "one of a string or array of objects"),
]
Arguments = Annotated[
    Text | Annotated[dict[str, Any], Tag("(object)")],
    Discriminator(text_or_object, "wrong_type", "a string"),
]


class FunctionCall(Body):
    """A call in the history. OpenAI's arguments are text; an object is taken too."""

    name: str
    arguments: Arguments = ""


class CustomCall(Body):
    """A custom tool's call in the history."""

    name: str
    input: str = ""


class ToolCall(Body):
    """A call with its id; which of the inner objects must be there depends on `type`."""

    id: str | None = None
    type: str = "function"
    function: FunctionCall | None = None
    custom: CustomCall | None = None


class Message(Body):
    """One message of any role; what a role demands is looked at when it is decoded."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content | None = None
    name: str | None = None
    refusal: str | None = None
    reasoning: Any = None
    reasoning_content: Any = None
    tool_calls: list[ToolCall] = Field(default_factory=list)
    tool_call_id: str | None = None
    function_call: FunctionCall | None = None


class Function(Body):
    """A function the model may call. No parameters = it takes none."""

    name: ToolName
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    strict: bool = False


class Grammar(Body):
    """What a custom tool's input must look like."""

    syntax: Literal["lark", "regex"]
    definition: str


class CustomFormat(Body):
    """`grammar` must be there for that type."""

    type: Literal["text", "grammar"] = "text"
    grammar: Grammar | None = None


class Custom(Body):
    """A tool that takes text."""

    name: ToolName
    description: str = ""
    format: CustomFormat = CustomFormat()


class Tool(Body):
    """A tool; which of the inner objects must be there depends on `type`."""

    type: str = "function"
    function: Function | None = None
    custom: Custom | None = None


class JsonSchema(Body):
    """What the answer must look like."""

    name: SchemaName
    description: str = ""
    schema_: dict[str, Any] = Field(default={}, alias="schema")
    strict: bool = False


class ResponseFormat(Body):
    """`json_schema` must be there for that type."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class StreamOptions(Body):
    """Usage that is told all along is not offered: some clients add it up."""

    include_usage: bool = False
    include_obfuscation: bool = True
    continuous_usage_stats: bool = False


class StructuredOutputs(Body):
    """vLLM's way to say what the answer must look like."""

    json_: dict[str, Any] | str | None = Field(default=None, alias="json")
    json_object: bool = False


class ChatCompletionRequest(EngineExtras):
    """The fields that have an effect. Those that are accepted without one are listed in `decode.py`."""

    model: str
    messages: Annotated[list[Message], Field(min_length=1)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(ge=1)] = 1
    temperature: Temperature | None = None
    top_p: Share | None = None
    frequency_penalty: Penalty | None = None
    presence_penalty: Penalty | None = None
    max_completion_tokens: Positive | None = None
    max_tokens: Positive | None = None
    stop: Stop = Field(default_factory=list)
    seed: Seed | None = None
    logit_bias: LogitBias | None = None
    logprobs: bool = False
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    modalities: list[str] = Field(default_factory=list)
    reasoning_effort: Effort | None = None
    include_reasoning: bool = True
    response_format: ResponseFormat | None = None
    structured_outputs: StructuredOutputs | None = None
    guided_json: dict[str, Any] | str | None = None
    tools: list[Tool] = Field(default_factory=list)
    tool_choice: Any = None
    parallel_tool_calls: bool = True
    functions: Annotated[list[Function], Field(min_length=1)] | None = None
    function_call: Any = None
    chat_template: Any = None
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    documents: list[dict[str, Any]] | None = None
    strict_history: bool = False
    continue_final_message: bool = False
    add_generation_prompt: bool | None = None
