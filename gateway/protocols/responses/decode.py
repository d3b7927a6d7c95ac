"""The wire's request as the gateway's own; the words of the protocol end here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.chat.history import heal, is_text_of_assistant
from gateway.chat.request import ChatRequest, ResponseFormat, Sampling
from gateway.errors import RequestError
from gateway.protocols.tool_schema import check_response_schema
from gateway.protocols.validation import missing, wrong_type
from gateway.settings import Limits

from . import schema as wire
from .choice import decoded_choice
from .compaction import since_summary, summarising, without_trigger
from .items import TOOL_BEARERS, Conversation
from .records import Past
from .tool_set import ToolSet
from .tools import add_tools, decoded_tools
from .unheeded import LOGPROBS, unheeded

Json = dict[str, Any]

FORMAT = "text.format"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A request in the gateway's own words, with the names of its tools."""

    chat: ChatRequest
    tools: ToolSet
    compacts: bool = False
    """The model is asked for a summary of the conversation."""


def check_supported(request: wire.InputTokensRequest) -> None:
    """RequestError for what cannot be done here, before anything is looked up."""
    if request.prompt is not None:
        message = "Unsupported parameter: 'prompt' is not supported on this server. Send the prompt itself."
        raise RequestError(message, param="prompt", code="unsupported_parameter")
    if request.previous_response_id is not None and request.conversation is not None:
        message = "Mutually exclusive parameters: give one of 'previous_response_id' and 'conversation'."
        raise RequestError(message, param="previous_response_id", code="mutually_exclusive_parameters")
    goes_on = request.previous_response_id is not None or request.conversation is not None
    if request.input is None and not goes_on:
        raise missing("input")
    if request.input == [] and not goes_on and not request.instructions:
        expected = "Expected an array with minimum length 1, but got an empty array instead."
        raise RequestError(f"Invalid 'input': empty array. {expected}", param="input", code="empty_array")
    if isinstance(request, wire.ResponsesRequest) and request.background and not request.store:
        message = "Invalid value for 'background': a response in the background must be stored ('store')."
        raise RequestError(message, param="background")


def input_items(given: str | list[Json] | None) -> list[Json]:
    """A request's own input; a string is a message of the user."""
    if given is None:
        return []
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": given}]}]
    return given


def decoded(
    request: wire.InputTokensRequest, body: Mapping[str, Any], items_read: tuple[Past, Sequence[Json]], limits: Limits
) -> Decoded:
    """What the client asks for. The items: those before the request, and its own, without references.

    RequestError names the first field that is wrong.
    """
    past, (items, compacts) = items_read[0], without_trigger(items_read[1])
    tools = decoded_tools(request.tools, limits)
    for place, source in ((past.place, past.items), ("input", items)):
        _add_tools_of_history(tools, source, place, limits)
    conversation = Conversation(tools)
    conversation.instruct(request.instructions)
    conversation.read(since_summary(past.items), past.place)
    conversation.read(items)
    conversation.check()
    choice = decoded_choice(request.tool_choice, tools)
    history = heal(conversation.messages)
    sampling = Sampling()
    if isinstance(request, wire.ResponsesRequest):
        sampling = _sampling(request)
        tools.most_searches = min(tools.most_searches, request.max_tool_calls or tools.most_searches)
    chat = ChatRequest(
        model=request.model,
        messages=history.messages,
        tools=tools.tools,
        tool_choice=choice,
        parallel_tool_calls=request.parallel_tool_calls,
        response_format=_response_format(request.text.format, limits),
        sampling=sampling,
        template_kwargs=_template_kwargs(request),
        faults=history.faults,
        continues=conversation.unfinished and is_text_of_assistant(conversation.messages[-1]),
        truncates=request.truncation == "auto",
        strict_history=request.strict_history,
        warnings=(
            *unheeded(request, body),
            *dict.fromkeys(tools.warnings),
            *dict.fromkeys(conversation.warnings),
            *history.warnings,
        ),
        pinned=(tools.search,) if tools.search else (),
        tool_places=tools.places,
    )
    return Decoded(summarising(chat) if compacts else chat, tools, compacts)


def echo_of(request: wire.ResponsesRequest, tools: ToolSet) -> Json:
    """What the answer tells back of the request."""
    wanted = request.text.format
    form: Json = {"type": wanted.type}
    if wanted.type == "json_schema":
        form |= {"name": wanted.name, "description": wanted.description, "schema": wanted.schema_, "strict": wanted.strict}
    return {
        "background": request.background,
        "conversation": None if request.conversation_id is None else {"id": request.conversation_id},
        "instructions": request.instructions,
        "max_output_tokens": request.max_output_tokens,
        "max_tool_calls": request.max_tool_calls,
        "model": request.model,
        "parallel_tool_calls": request.parallel_tool_calls,
        "previous_response_id": request.previous_response_id,
        "prompt_cache_key": request.prompt_cache_key,
        "reasoning": {"effort": request.reasoning.effort, "summary": summary_of(request)},
        "safety_identifier": request.safety_identifier,
        "service_tier": "default",
        "store": request.store,
        "temperature": 1.0 if request.temperature is None else request.temperature,
        "text": {"format": form, "verbosity": request.text.verbosity or "medium"},
        "tool_choice": request.tool_choice if request.tool_choice is not None else "auto",
        "tools": tools.echo,
        "top_logprobs": request.top_logprobs or 0,
        "top_p": 1.0 if request.top_p is None else request.top_p,
        "truncation": request.truncation,
        "user": request.user,
        "metadata": request.metadata,
    }


def summary_of(request: wire.InputTokensRequest) -> str | None:
    """Which summary of the thinking the client asks for, under its new or its old name."""
    return request.reasoning.summary or request.reasoning.generate_summary


def _add_tools_of_history(tools: ToolSet, items: Sequence[Json], place: str, limits: Limits) -> None:
    """Tools that came with the conversation rather than with the request."""
    for index, item in enumerate(items):
        if item.get("type") in TOOL_BEARERS:
            listed = item.get("tools") or []
            if not isinstance(listed, list):
                raise wrong_type(f"{place}[{index}].tools", "an array", listed)
            add_tools(tools, listed, f"{place}[{index}].tools", limits)


def _sampling(request: wire.ResponsesRequest) -> Sampling:
    logprobs = request.top_logprobs is not None or LOGPROBS in request.include
    return Sampling(
        max_tokens=request.max_output_tokens,
        temperature=request.temperature,
        top_p=request.top_p,
        top_logprobs=(request.top_logprobs or 0) if logprobs else None,
    )


def _template_kwargs(request: wire.InputTokensRequest) -> Json:
    options = dict(request.chat_template_kwargs)
    if request.reasoning.effort is not None:
        options.setdefault("reasoning_effort", request.reasoning.effort)
    return options


def _response_format(wanted: wire.TextFormat, limits: Limits) -> ResponseFormat:
    if wanted.type == "text":
        return ResponseFormat()
    if wanted.type == "json_object":
        return ResponseFormat("json_object")
    if wanted.name is None:
        raise missing(f"{FORMAT}.name")
    if wanted.schema_ is None:
        raise missing(f"{FORMAT}.schema")
    place, code = f"{FORMAT}.schema", "invalid_json_schema"
    check_response_schema(wanted.name, wanted.schema_, limits, place=place, code=code)
    return ResponseFormat("json_schema", wanted.schema_, wanted.name, wanted.strict, place=place, code=code)
