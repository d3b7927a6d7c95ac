"""Requests that fail, each with what must be told of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CHAT, RESPONSES, MESSAGES, COMPLETIONS = "/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/completions"
HI: Any = [{"role": "user", "content": "hi"}]
CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": ""}


def tool(name: str = "f", **more: Any) -> list[Any]:
    return [{"type": "function", "function": {"name": name, "parameters": {**CLOSED}, **more}}]


@dataclass(frozen=True)
class Case:
    """A request that fails, and what is told of it."""

    status: int
    code: str | None
    param: str | None
    message: str
    """A regular expression for how the message begins."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    path: str = CHAT
    key: str = "good"
    type: str = "invalid_request_error"
    method: str = "POST"
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of the answer."""


def of_schema(problem: str, **more: Any) -> Any:
    return {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {"type": "object", **more}}}


CASES: dict[str, Case] = {
    "bad_json": Case(400, None, None, r"We could not parse the JSON body of your request\. \(HINT: ", content=b"{x"),
    "missing_param": Case(
        400, "missing_required_parameter", "messages", r"Missing required parameter: 'messages'\.$", {"messages": None}
    ),
    "invalid_type": Case(
        400, "invalid_type", "seed", r"Invalid type for 'seed': expected an integer, but got a string instead\.$", {"seed": "x"}
    ),
    "invalid_value": Case(
        400,
        "invalid_value",
        "reasoning_effort",
        r"Invalid value: 'mega'\. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh' and 'max'\.$",
        {"reasoning_effort": "mega"},
    ),
    "unsupported_value": Case(
        400,
        "unsupported_value",
        "modalities",
        r"Unsupported value: 'modalities' does not support 'audio' with this model\.",
        {"modalities": ["audio"]},
    ),
    "unsupported_parameter": Case(
        400,
        "unsupported_parameter",
        "suffix",
        r"Unsupported parameter: 'suffix' is not supported with this model\.",
        {"prompt": "x", "suffix": "y"},
        COMPLETIONS,
    ),
    "integer_below_min_value": Case(
        400,
        "integer_below_min_value",
        "n",
        r"Invalid 'n': integer below minimum value\. Expected a value >= 1, but got 0 instead\.$",
        {"n": 0},
    ),
    "integer_above_max_value": Case(
        400,
        "integer_above_max_value",
        "n",
        r"Invalid 'n': integer above maximum value\. Expected a value <= 16, but got 99 instead\.$",
        {"n": 99},
    ),
    "decimal_below_min_value": Case(
        400,
        "decimal_below_min_value",
        "temperature",
        r"Invalid 'temperature': decimal below minimum value\.",
        {"temperature": -1.0},
    ),
    "decimal_above_max_value": Case(
        400,
        "decimal_above_max_value",
        "temperature",
        r"Invalid 'temperature': decimal above maximum value\.",
        {"temperature": 3.0},
    ),
    "array_above_max_length": Case(
        400,
        "array_above_max_length",
        "tools",
        r"Invalid 'tools': array too long\. Expected an array with maximum length 512, but got an array with length 513 ",
        {"tools": [each for number in range(513) for each in tool(f"f{number}")]},
    ),
    "empty_array": Case(
        400,
        "empty_array",
        "messages",
        r"Invalid 'messages': empty array\. Expected an array with minimum length 1, but got an empty array instead\.$",
        {"messages": []},
    ),
    "string_above_max_length": Case(
        400,
        "string_above_max_length",
        "metadata.a",
        r"Invalid 'metadata\.a': string too long\. "
        "Expected a string with maximum length 512, but got a string with length 600",
        {"metadata": {"a": "x" * 600}},
        RESPONSES,
    ),
    "tool_name_pattern": Case(
        400,
        "invalid_value",
        "tools[0].function.name",
        r"Invalid 'tools\[0\]\.function\.name': string does not match pattern\. "
        r"Expected a string that matches the pattern '\^\[a-zA-Z0-9_-\]\+\$'\.$",
        {"tools": tool("a b")},
    ),
    "function_schema": Case(
        400,
        "invalid_function_parameters",
        "tools[0].function.parameters",
        r"Invalid schema for function 'f': In context=\(\), ",
        {"tools": tool(strict=True, parameters={"type": "object"})},
    ),
    "json_schema_chat": Case(
        400,
        None,
        "response_format",
        r"Invalid schema for response_format 'n': In context=\(\), ",
        {"response_format": of_schema("open")},
    ),
    "json_schema_responses": Case(
        400,
        "invalid_json_schema",
        "text.format.schema",
        r"Invalid schema for response_format 'n': In context=\(\), ",
        {"text": {"format": {"type": "json_schema", "name": "n", "strict": True, "schema": {"type": "object"}}}},
        RESPONSES,
    ),
    "tool_choice_without_tools": Case(
        400,
        "invalid_value",
        "tool_choice",
        r"Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified\.$",
        {"tool_choice": "required"},
    ),
    "tool_choice_unknown": Case(
        400,
        "invalid_value",
        "tool_choice",
        r"Tool choice 'g' not found in 'tools' parameter\.$",
        {"tools": tool(), "tool_choice": {"type": "function", "function": {"name": "g"}}},
    ),
    "resp_no_output_for_call": Case(
        400, None, "input", r"No tool output found for function call c\.$", {"input": [CALL]}, RESPONSES
    ),
    "resp_no_call_for_output": Case(
        400, None, "input", r"No tool call found for function call output with call_id c\.$", {"input": [RESULT]}, RESPONSES
    ),
    "context_length": Case(
        400,
        "context_length_exceeded",
        "messages",
        r"This model's maximum context length is 200 tokens\. However, your messages resulted in \d+ tokens\. "
        r"Please reduce the length of the messages\.$",
        {"model": "busy", "messages": [{"role": "user", "content": "word " * 300}]},
    ),
    "prev_response": Case(
        400,
        "previous_response_not_found",
        "previous_response_id",
        r"Previous response with id 'resp_x' not found\.$",
        {"previous_response_id": "resp_x"},
        RESPONSES,
    ),
    "api_key": Case(401, "invalid_api_key", None, r"Incorrect API key provided: tw-\*\*\*[^ ]{4}\.", key="bad"),
    "no_key": Case(401, None, None, r"You didn't provide an API key\.", key=""),
    "model_not_found": Case(
        404, "model_not_found", "model", r"The model `nope` does not exist or you do not have access to it\.", {"model": "nope"}
    ),
    "unknown_url": Case(
        404,
        "unknown_url",
        None,
        r"Unknown request URL: GET /v1/nope\. Please check the URL for typos, ",
        path="/v1/nope",
        method="GET",
    ),
    "response_not_found": Case(
        404, None, None, r"Response with id 'resp_x' not found\.$", path=f"{RESPONSES}/resp_x", method="GET"
    ),
    "too_large": Case(413, "request_too_large", None, r"Request body too large\.", {"user": "x" * 200_000}),
    "rate_limit": Case(
        429,
        "rate_limit_exceeded",
        None,
        r"Rate limit reached for .* Please try again in [\dms.]+\.$",
        key="slow",
        type="requests",
        headers={"retry-after": r"\d+", "x-should-retry": "true"},
    ),
    "backend_down": Case(
        503,
        "backend_unavailable",
        "model",
        "The model `down` cannot be served",
        {"model": "down"},
        type="server_error",
        headers={"retry-after": r"\d+", "x-should-retry": "true"},
    ),
    "backend_busy": Case(
        429,
        "rate_limit_exceeded",
        None,
        "The engine takes no more requests now: as scripted",
        {"model": "busy"},
        type="requests",
        headers={"retry-after": "2", "x-should-retry": "true"},
    ),
    "method_not_allowed": Case(
        405, "method_not_allowed", None, "Not allowed to DELETE", method="DELETE", headers={"allow": "POST"}
    ),
    "unsupported_media_type": Case(415, "unsupported_media_type", None, "The body's content-encoding 'br'", content=b"x"),
    "model_not_allowed": Case(
        403, "model_not_allowed", "model", "The model `scripted` is not one that this API key may use", key="other"
    ),
}
