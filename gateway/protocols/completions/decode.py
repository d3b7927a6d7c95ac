"""The wire's request as what an engine without such an endpoint is asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.chat.plan import Prompt
from gateway.chat.request import ChatRequest, Sampling
from gateway.errors import RequestError
from gateway.protocols.validation import validated, wrong_type
from gateway.protocols.wire import stop_texts, without_effect
from gateway.settings import Limits

from .schema import CompletionRequest

DEFAULT_TOKENS = 16
"""As OpenAI has it: completions that say nothing are short."""
MOST_LOGPROBS = 20
HIGHEST_TOKEN = 2**31 - 1
SILENT = frozenset({"user"})
"""Fields that say nothing about the answer."""
ELSEWHERE = "This model's engine does not offer it on this endpoint."


@dataclass(frozen=True, slots=True)
class Incoming:
    """Prompts, and how they are to be answered."""

    chat: ChatRequest
    prompts: tuple[Prompt, ...]
    echo: bool
    """Each answer begins with its prompt."""


def checked(body: Mapping[str, Any], limits: Limits) -> CompletionRequest:
    """The request, as long as it asks for no more than is allowed."""
    request = validated(CompletionRequest, body)
    for name in ("n", "best_of"):
        asked = getattr(request, name) or 1
        if asked > limits.choices:
            expected = f"Expected a value <= {limits.choices}, but got {asked} instead."
            message = f"Invalid '{name}': integer above maximum value. {expected}"
            raise RequestError(message, param=name, code="integer_above_max_value")
    return request


def decoded(request: CompletionRequest, limits: Limits) -> Incoming:
    """What the client asks for; RequestError names the first field that is wrong."""
    _check_supported(request)
    prompts = _prompts(request.prompt, limits.choices // request.n)
    if request.echo and any(prompt.token_ids is not None for prompt in prompts):
        raise _unsupported("echo", "Send the prompt as text, or read it where you have it.")
    warnings = tuple(without_effect(request.model_extra or {}, CompletionRequest, SILENT))
    chat = ChatRequest(request.model, messages=(), sampling=_sampling(request), warnings=warnings)
    return Incoming(chat, prompts, request.echo)


def _check_supported(request: CompletionRequest) -> None:
    if request.suffix:
        raise _unsupported("suffix", ELSEWHERE)
    if request.best_of is not None and request.best_of > request.n:
        raise _unsupported("best_of", ELSEWHERE)
    if request.echo and request.logprobs is not None:
        raise _unsupported("echo", "It cannot be had together with logprobs from this model's engine.")
    if (request.logprobs or 0) > MOST_LOGPROBS:
        expected = f"Expected a value <= {MOST_LOGPROBS}, but got {request.logprobs} instead."
        message = f"Invalid 'logprobs': integer above maximum value. {expected}"
        raise RequestError(message, param="logprobs", code="integer_above_max_value")


def _unsupported(field: str, remedy: str) -> RequestError:
    message = f"Unsupported parameter: '{field}' is not supported with this model. {remedy}"
    return RequestError(message, param=field, code="unsupported_parameter")


def _prompts(given: Any, most: int) -> tuple[Prompt, ...]:
    """One prompt (a string, or token ids), or an array of them."""
    if not isinstance(given, list) or (given and all(_is_token(each) for each in given)):
        return (_prompt(given, "prompt"),)
    if not given:
        expected = "Expected an array with minimum length 1, but got an empty array instead."
        raise RequestError(f"Invalid 'prompt': empty array. {expected}", param="prompt", code="empty_array")
    if len(given) > most:
        expected = f"Expected an array with maximum length {most}, but got an array with length {len(given)} instead."
        raise RequestError(f"Invalid 'prompt': array too long. {expected}", param="prompt", code="array_above_max_length")
    return tuple(_prompt(each, f"prompt[{place}]") for place, each in enumerate(given))


def _prompt(given: Any, place: str) -> Prompt:
    if isinstance(given, str):
        return Prompt(given, None, "")
    if not isinstance(given, list) or not given or not all(_is_token(each) for each in given):
        raise wrong_type(place, "one of a string or array of token ids", given)
    if not all(0 <= each <= HIGHEST_TOKEN for each in given):
        raise RequestError(f"Invalid '{place}': these are no token ids.", param="prompt")
    return Prompt("", tuple(given), "")


def _is_token(value: Any) -> bool:
    return type(value) is int


def _sampling(request: CompletionRequest) -> Sampling:
    return Sampling(
        max_tokens=DEFAULT_TOKENS if request.max_tokens is None else request.max_tokens,
        temperature=request.temperature,
        top_p=request.top_p,
        frequency_penalty=request.frequency_penalty,
        presence_penalty=request.presence_penalty,
        seed=request.seed,
        n=request.n,
        stop=stop_texts(request.stop),
        top_logprobs=request.logprobs,
        logit_bias=request.logit_bias,
        engine_extras=request.extras(),
    )
