"""The wire's request as the gateway's own; the words of the protocol end here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.chat.history import heal, is_text_of_assistant
from gateway.chat.request import ChatRequest, ResponseFormat, Sampling, ToolChoice
from gateway.protocols.tool_schema import check_response_schema
from gateway.protocols.wire import without_effect
from gateway.settings import Limits

from . import schema as wire
from .messages import Conversation
from .tools import decoded_choice, decoded_tools
from .validation import validated

SILENT = frozenset(
    {"metadata", "service_tier", "cache_control", "betas", "diagnostics", "inference_geo", "speed", "user_profile_id"}
)
"""Fields that say nothing about the answer."""

FORCED = ("required", "named")


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request, and how its answer is to be written."""

    chat: ChatRequest
    stream: bool = False


def decoded(body: Mapping[str, Any], limits: Limits) -> Incoming:
    """What the client asks for; RequestError names the first field that is wrong."""
    request = validated(wire.MessagesRequest, body)
    sampling = Sampling(
        max_tokens=request.max_tokens,
        temperature=request.temperature,
        top_p=request.top_p,
        stop=tuple(text for text in request.stop_sequences if text),
        engine_extras={} if request.top_k is None else {"top_k": request.top_k},
    )
    warnings = tuple(without_effect(body, wire.MessagesRequest, SILENT))
    return Incoming(_chat(request, limits, sampling, warnings), request.stream)


def decoded_count(body: Mapping[str, Any], limits: Limits) -> ChatRequest:
    """The request whose prompt is to be measured."""
    return _chat(validated(wire.CountTokensRequest, body), limits, Sampling(), ())


def _chat(request: wire.CountTokensRequest, limits: Limits, sampling: Sampling, warnings: tuple[str, ...]) -> ChatRequest:
    tools = decoded_tools(request.tools, limits)
    choice = decoded_choice(request.tool_choice, tools.declared)
    conversation = Conversation()
    conversation.read_system(request.system, "system")
    conversation.read(request.messages)
    history = heal(conversation.chat)
    ignored = [f"tools of type {kind} run elsewhere and were ignored" for kind in tools.hosted]
    return ChatRequest(
        model=request.model,
        messages=history.messages,
        tools=tools.declared,
        tool_choice=choice,
        parallel_tool_calls=request.tool_choice is None or not request.tool_choice.disable_parallel_tool_use,
        response_format=_response_format(request, limits),
        sampling=sampling,
        template_kwargs=_template_kwargs(request, choice),
        faults=history.faults,
        continues=any(map(is_text_of_assistant, conversation.chat[-1:])),
        strict_history=request.strict_history,
        warnings=(*warnings, *ignored, *conversation.warnings, *history.warnings, *_thinking_warnings(request, choice)),
        tool_places=tools.places,
    )


def _template_kwargs(request: wire.CountTokensRequest, choice: ToolChoice) -> dict[str, Any]:
    """Thinking is off where a tool is forced: Anthropic refuses the two together."""
    options: dict[str, Any] = {}
    if request.thinking is not None:
        options["enable_thinking"] = request.thinking.type != "disabled" and choice.mode not in FORCED
    if request.output_config is not None and request.output_config.effort is not None:
        options["reasoning_effort"] = request.output_config.effort
    return options


def _thinking_warnings(request: wire.CountTokensRequest, choice: ToolChoice) -> Iterator[str]:
    thinking = request.thinking
    if thinking is None or thinking.type == "disabled":
        return
    if choice.mode in FORCED:
        yield "thinking is off where a tool must be used"
    elif thinking.budget_tokens is not None:
        yield "thinking.budget_tokens has no effect here"


def _response_format(request: wire.CountTokensRequest, limits: Limits) -> ResponseFormat:
    wanted = request.output_config.format if request.output_config is not None else None
    place = "output_config.format" if wanted is not None else "output_format"
    wanted = wanted or request.output_format
    if wanted is None:
        return ResponseFormat()
    check_response_schema(place, wanted.schema_, limits)
    return ResponseFormat("json_schema", wanted.schema_, held=True, place=f"{place}.schema")
