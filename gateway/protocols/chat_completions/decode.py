"""The wire's request as the gateway's own; the words of the protocol end here."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.chat.history import heal
from gateway.chat.request import ChatRequest, ResponseFormat, Sampling, ToolChoice
from gateway.errors import RequestError
from gateway.protocols.tool_schema import check_response_schema
from gateway.protocols.validation import missing, validated
from gateway.protocols.wire import stop_texts, without_effect
from gateway.settings import Limits
from parsers import Tool

from . import schema as wire
from .continuing import check_continued, unprompted
from .messages import decoded_messages
from .tools import custom_names, decoded_choice, decoded_function_call, decoded_functions, decoded_tools, places_of

SILENT = frozenset(
    {
        "user",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_retention",
        "prompt_cache_options",
        "service_tier",
        "store",
        "metadata",
        "skip_special_tokens",
        "spaces_between_special_tokens",
        "add_special_tokens",
        "request_id",
        "chat_template_content_format",
    }
)
"""Fields that say nothing about the answer, or that the gateway sees to by itself."""

REFUSED = {
    "chat_template": "Set it in the model's entry of the configuration.",
    "guided_regex": "Use response_format or strict tools.",
    "guided_choice": "Use response_format with an enum.",
    "guided_grammar": "Use response_format or strict tools.",
    "structured_outputs.regex": "Use response_format or strict tools.",
    "structured_outputs.choice": "Use response_format with an enum.",
    "structured_outputs.grammar": "Use response_format or strict tools.",
    "structured_outputs.structural_tag": "Use response_format or strict tools.",
}
"""Fields that would change what may be answered: ignoring them would be silent, so they are refused with the remedy."""
SUSPECT = frozenset(field.partition(".")[0] for field in REFUSED)
FREE = ResponseFormat()


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request, and how its answer is to be written."""

    chat: ChatRequest
    stream: bool = False
    include_usage: bool = False
    legacy: bool = False
    """The client knows `function_call` only."""
    reasoning: bool = True
    """Thinking text is sent."""
    custom: frozenset[str] = frozenset()
    """Tools whose calls are written with their input as text."""


def decoded(body: Mapping[str, Any], limits: Limits) -> Incoming:
    """What the client asks for; RequestError names the first field that is wrong."""
    _refuse(body)
    request = validated(wire.ChatCompletionRequest, body)
    _check_combinations(request, limits)
    tools, choice, ignored = _tools(request, limits)
    messages = decoded_messages(request.messages)
    if request.continue_final_message:
        check_continued(request, messages)
    history = heal(messages)
    options = request.stream_options
    legacy = request.functions is not None
    chat = ChatRequest(
        model=request.model,
        messages=history.messages,
        tools=tools,
        tool_choice=choice,
        parallel_tool_calls=request.parallel_tool_calls and not legacy,
        response_format=_response_format(request, limits),
        sampling=_sampling(request),
        template_kwargs=_template_kwargs(request),
        faults=history.faults,
        continues=request.continue_final_message,
        strict_history=request.strict_history,
        warnings=(*without_effect(body, wire.ChatCompletionRequest, SILENT), *ignored, *history.warnings, *unprompted(request)),
        tool_places=places_of(request),
    )
    return Incoming(
        chat=chat,
        stream=request.stream,
        include_usage=options is not None and options.include_usage,
        legacy=legacy,
        reasoning=request.include_reasoning,
        custom=custom_names(request.tools),
    )


def _refuse(body: Mapping[str, Any]) -> None:
    if SUSPECT.isdisjoint(body):
        return
    for field, remedy in REFUSED.items():
        value: Any = body
        for key in field.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            message = f"Unsupported parameter: '{field}' is not supported on this server. {remedy}"
            raise RequestError(message, param=field, code="unsupported_parameter")


def _check_combinations(request: wire.ChatCompletionRequest, limits: Limits) -> None:
    if request.n > limits.choices:
        expected = f"Expected a value <= {limits.choices}, but got {request.n} instead."
        message = f"Invalid 'n': integer above maximum value. {expected}"
        raise RequestError(message, param="n", code="integer_above_max_value")
    if request.stream_options is not None and request.stream_options.model_fields_set and not request.stream:
        message = "Invalid value for 'stream_options': the 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise RequestError(message, param="stream_options")
    if request.top_logprobs is not None and not request.logprobs:
        message = "Invalid value for 'top_logprobs': it is only allowed when 'logprobs' is enabled."
        raise RequestError(message, param="top_logprobs")
    if "audio" in request.modalities:
        message = "Unsupported value: 'modalities' does not support 'audio' with this model."
        raise RequestError(message, param="modalities", code="unsupported_value")
    if request.functions is not None and request.tools:
        message = "Setting 'functions' and 'tools' at the same time is not supported. Use 'tools'."
        raise RequestError(message, param="functions", code="invalid_parameter_combination")


def _tools(request: wire.ChatCompletionRequest, limits: Limits) -> tuple[tuple[Tool, ...], ToolChoice, list[str]]:
    if request.functions is not None:
        functions = decoded_functions(request.functions, limits)
        return functions, decoded_function_call(request.function_call, functions), []
    tools, hosted = decoded_tools(request.tools, limits)
    ignored = [f"tools of type {kind} run elsewhere and were ignored" for kind in dict.fromkeys(hosted)]
    return tools, decoded_choice(request.tool_choice, tools), ignored


def _sampling(request: wire.ChatCompletionRequest) -> Sampling:
    return Sampling(
        max_tokens=request.max_completion_tokens or request.max_tokens,
        temperature=request.temperature,
        top_p=request.top_p,
        frequency_penalty=request.frequency_penalty,
        presence_penalty=request.presence_penalty,
        seed=request.seed,
        n=request.n,
        stop=stop_texts(request.stop),
        top_logprobs=(request.top_logprobs or 0) if request.logprobs else None,
        logit_bias=request.logit_bias,
        engine_extras=request.extras(),
    )


def _template_kwargs(request: wire.ChatCompletionRequest) -> dict[str, Any]:
    options = dict(request.chat_template_kwargs)
    if request.reasoning_effort is not None:
        options.setdefault("reasoning_effort", request.reasoning_effort)
    if request.documents is not None:
        options.setdefault("documents", request.documents)
    return options


def _response_format(request: wire.ChatCompletionRequest, limits: Limits) -> ResponseFormat:
    """What the content must look like, also where it is asked for in vLLM's fields."""
    wanted = request.response_format
    if wanted is None or wanted.type == "text":
        return _vllm_format(request, limits)
    if wanted.type == "json_object":
        return ResponseFormat("json_object")
    if wanted.json_schema is None:
        raise missing("response_format.json_schema")
    spec = wanted.json_schema
    check_response_schema(spec.name, spec.schema_, limits)
    return ResponseFormat("json_schema", spec.schema_, spec.name, spec.strict)


def _vllm_format(request: wire.ChatCompletionRequest, limits: Limits) -> ResponseFormat:
    outputs, schema, field = request.structured_outputs, request.guided_json, "guided_json"
    if outputs is not None and outputs.json_ is not None:
        schema, field = outputs.json_, "structured_outputs.json"
    if schema is not None:
        found = _schema_object(schema, field)
        check_response_schema(field, found, limits)
        return ResponseFormat("json_schema", found, held=True, place=field)
    return ResponseFormat("json_object") if outputs is not None and outputs.json_object else FREE


def _schema_object(schema: dict[str, Any] | str, field: str) -> dict[str, Any]:
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except (ValueError, RecursionError):
            schema = ""
    if not isinstance(schema, dict):
        raise RequestError(f"Invalid value for '{field}': expected a JSON Schema.", param=field)
    return schema
