"""The request body, field by field: shape only. Items and tools are looked at when they are decoded."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from gateway.protocols.wire import Body, Effort, Positive, Share, Temperature, Text, ToolName, text_or_object, text_or_parts

SchemaName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$", max_length=64)]
MetadataValue = Annotated[str, Field(max_length=512)]
MetadataKey = Annotated[str, Field(max_length=64)]

Input = Annotated[
    Text | Annotated[list[dict[str, Any]], Tag("(parts)")],
    Discriminator(text_or_parts, "wrong_type", "one of a string or array of input items"),
]


class ConversationReference(Body):
    """A conversation that is kept."""

    id: str


InConversation = Annotated[
    Text | Annotated[ConversationReference, Tag("(object)")],
    Discriminator(text_or_object, "wrong_type", "one of a string or object"),
]
Metadata = Annotated[dict[MetadataKey, MetadataValue], Field(max_length=16)]


class Reasoning(Body):
    """How much the model should think, and whether the client wants to see it as a summary."""

    effort: Effort | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    generate_summary: Literal["auto", "concise", "detailed"] | None = None


class TextFormat(Body):
    """What the answer must look like; `name` and `schema` must be there for `json_schema`."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    name: SchemaName | None = None
    description: str | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    strict: bool = False


class TextOptions(Body):
    """How the answer's text is to be."""

    format: TextFormat = TextFormat()
    verbosity: Literal["low", "medium", "high"] | None = None


class Function(Body):
    """A function the model may call. No parameters = it takes none; no `strict` = strict where the schema allows it."""

    name: ToolName
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    strict: bool | None = None
    defer_loading: bool = False


class GrammarFormat(Body):
    """What a custom tool's input must look like."""

    type: Literal["text", "grammar"] = "text"
    syntax: Literal["lark", "regex"] | None = None
    definition: str | None = None


class Custom(Body):
    """A tool whose input is plain text."""

    name: ToolName
    description: str = ""
    format: GrammarFormat = GrammarFormat()
    defer_loading: bool = False


class Namespace(Body):
    """Functions and custom tools under one name."""

    name: ToolName
    description: str = ""
    tools: Annotated[list[dict[str, Any]], Field(min_length=1)]


class ToolSearch(Body):
    """The tool that finds tools with `defer_loading`. `client`: the client searches, with parameters of its own."""

    execution: Literal["server", "client"] = "server"
    description: str = ""
    parameters: dict[str, Any] | None = None


class InputTokensRequest(Body):
    """The fields that make the prompt."""

    model: str
    input: Input | None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    conversation: InConversation | None = None
    prompt: Any = None
    tools: list[dict[str, Any]] = Field(default_factory=list)
    tool_choice: Any = None
    parallel_tool_calls: bool = True
    reasoning: Reasoning = Reasoning()
    text: TextOptions = TextOptions()
    truncation: Literal["auto", "disabled"] = "disabled"
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    strict_history: bool = False

    @property
    def conversation_id(self) -> str | None:
        """The conversation that the response belongs to, however it was named."""
        return self.conversation if self.conversation is None or isinstance(self.conversation, str) else self.conversation.id


class ResponsesRequest(InputTokensRequest):
    """The fields that have an effect, or are told back. Those that are accepted without one are listed in `decode.py`."""

    stream: bool = False
    store: bool = True
    background: bool = False
    include: list[str] = Field(default_factory=list)
    max_output_tokens: Positive | None = None
    max_tool_calls: Positive | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    metadata: Metadata = Field(default_factory=dict)
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    service_tier: str | None = None


class CompactRequest(Body):
    """A conversation that is to be replaced by a summary."""

    model: str
    input: Input | None = None
    instructions: str | None = None
    previous_response_id: str | None = None


class ConversationItemsRequest(Body):
    """Items to be added to a conversation."""

    items: list[dict[str, Any]]


class ConversationUpdate(Body):
    """What a conversation is to be described by."""

    metadata: Metadata


class ConversationRequest(Body):
    """How a conversation begins."""

    items: list[dict[str, Any]] = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)
