"""From a request to a plan: everything that can be refused is refused here, before a byte goes out."""

from dataclasses import replace

from gateway.chat.plan import Plan, Prompt
from gateway.chat.request import ChatRequest, Sampling
from gateway.errors import ContextTooLong, RequestError
from parsers import Tool

from . import constraint, continuing
from .catalog import ModelSpec
from .guards import guarded
from .no_tool import no_tool
from .strict import with_usable_schemas
from .truncating import left_out, shorter

DEFAULTED = ("temperature", "top_p", "max_tokens")
"""What a model's entry says for requests that do not."""


def plan(request: ChatRequest, spec: ModelSpec) -> Plan:
    """What the engine is asked, within the model's guards. Takes milliseconds of processor time (template, tokens, grammar)
    unless the request `is_light`: call it in a thread then."""
    bounded = guarded(request, spec)
    planned = plan_again(bounded.request, spec)
    return replace(planned, guards=bounded.acted) if bounded.acted else planned


def plan_again(request: ChatRequest, spec: ModelSpec) -> Plan:
    """What it is asked after a turn that was of no use. The guards have seen this conversation."""
    continuing.check(request)
    request = with_usable_schemas(request, spec.strict_policy)
    if not spec.parallel_calls:
        request = replace(request, parallel_tool_calls=False)
    hidden = _hidden_tool(request, spec)
    request, prompt, (sampling, shortened) = _fitting(request, spec, hidden)
    tools = (*callable_tools(request), *hidden)
    limit = constraint.for_request(request, spec, tools=tools, opening=prompt.opening)
    return Plan(
        request=request,
        model=spec.engine_model,
        format=spec.format,
        prompt=prompt,
        tools=tools,
        sampling=sampling,
        constraint=limit.constraint,
        loose=limit.loose,
        loose_answer=limit.loose_answer,
        hidden=hidden[0].name if hidden else None,
        stop_token_texts=tuple(spec.format.stop),
        warnings=(*request.warnings, *prompt.warnings, *filter(None, (shortened, *limit.warnings))),
    )


def _fitting(request: ChatRequest, spec: ModelSpec, hidden: tuple[Tool, ...]) -> tuple[ChatRequest, Prompt, tuple[Sampling, str]]:
    """The request as it fits the context, its prompt, and its sampling; ContextTooLong when it does not fit."""
    whole, wanted = request, _with_defaults(request.sampling, spec)
    while True:
        prompt = _rendered(request, spec, hidden)
        try:
            fitted = _fitted(wanted, prompt, spec)
        except ContextTooLong as problem:
            following = shorter(request, problem) if request.truncates else None
            if following is None:
                raise
            request = following
        else:
            return left_out(whole, request), prompt, fitted


def plan_of_prompt(request: ChatRequest, spec: ModelSpec, prompt: Prompt) -> Plan:
    """What the engine is asked for a prompt that the client wrote itself: nothing is rendered, and nothing in it is a call."""
    sampling, shortened = _fitted(_with_defaults(request.sampling, spec), prompt, spec)
    warnings = (*request.warnings, *filter(None, (shortened,)))
    request = replace(request, messages=({"role": "user", "content": prompt.text},))
    return Plan(request, spec.engine_model, spec.format, prompt, (), sampling, warnings=warnings)


def prompt_of(request: ChatRequest, spec: ModelSpec) -> Prompt:
    """The rendered request, however long it is."""
    request = guarded(request, spec).request
    request = with_usable_schemas(request, spec.strict_policy)
    return _rendered(request, spec, _hidden_tool(request, spec))


def _hidden_tool(request: ChatRequest, spec: ModelSpec) -> tuple[Tool, ...]:
    """The function with which the model may decline, where it must call one and its entry allows it."""
    if spec.required_fallback == "none" or request.tool_choice.mode != "required":
        return ()
    return (no_tool(tool.name for tool in request.tools),)


def _rendered(request: ChatRequest, spec: ModelSpec, hidden: tuple[Tool, ...]) -> Prompt:
    if (spec.strict_history or request.strict_history) and request.faults:
        place = f"messages[{request.faults[0].index}]"
        raise RequestError(f"{place} is broken: {request.faults[0].reason}.", param=place, code="invalid_history")
    shown = () if request.tool_choice.mode == "none" else (*request.tools, *hidden)
    return spec.renderer.render(request.messages, shown, request.template_kwargs, continues=request.continues)


def callable_tools(request: ChatRequest) -> tuple[Tool, ...]:
    """The tools a call may name. With none, markup in the answer is content."""
    choice = request.tool_choice
    if choice.mode == "none":
        return ()
    if choice.mode == "named":
        return tuple(tool for tool in request.tools if tool.name == choice.name)
    if choice.allowed is None:
        return request.tools
    return tuple(tool for tool in request.tools if tool.name in choice.allowed)


def _with_defaults(sampling: Sampling, spec: ModelSpec) -> Sampling:
    known = {name: value for name in DEFAULTED if (value := getattr(spec.sampling, name)) is not None}
    missing = {name: value for name, value in known.items() if getattr(sampling, name) is None} if known else known
    return replace(sampling, **missing) if missing else sampling


def _fitted(sampling: Sampling, prompt: Prompt, spec: ModelSpec) -> tuple[Sampling, str]:
    """`max_tokens` cut to what the context and the model's entry leave, with a warning when the client asked for more."""
    room = _room(prompt, spec)
    most = spec.max_tokens if room is None else room if spec.max_tokens is None else min(room, spec.max_tokens)
    asked = sampling.max_tokens
    if most is None or (asked is not None and asked <= most):
        return sampling, ""
    warning = f"max_tokens {asked} was cut to {most}, what this model can give here" if asked is not None else ""
    return replace(sampling, max_tokens=most), warning


def _room(prompt: Prompt, spec: ModelSpec) -> int | None:
    if spec.context is None or prompt.token_ids is None:
        return None
    used = len(prompt.token_ids)
    if used >= spec.context:
        raise ContextTooLong.of(used, spec.context)
    return spec.context - used
