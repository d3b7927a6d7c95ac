"""What a request asks for that has no effect here; each is told in a warning."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from gateway.protocols.wire import without_effect

from . import schema as wire

SILENT = frozenset({"service_tier", "prompt_cache_retention", "prompt_cache_options", "stream_options", "client_metadata"})
"""Fields that say nothing about the answer."""
LOGPROBS = "message.output_text.logprobs"
SEALED = "reasoning.encrypted_content"
INNER: Mapping[str, type[BaseModel]] = {"reasoning": wire.Reasoning, "text": wire.TextOptions}


def unheeded(request: wire.InputTokensRequest, body: Mapping[str, Any]) -> Iterator[str]:
    """A warning for each of them."""
    yield from without_effect(body, type(request), SILENT)
    for field, model in INNER.items():
        inner = body.get(field)
        for warning in without_effect(inner if isinstance(inner, Mapping) else {}, model, frozenset()):
            yield f"{field}.{warning}"
    if request.text.verbosity is not None:
        yield "text.verbosity has no effect here"
    if isinstance(request, wire.ResponsesRequest):
        for name in request.include:
            if name not in (LOGPROBS, SEALED):
                yield f"include: {name} has no effect here"
        if request.service_tier not in (None, "auto", "default"):
            yield f"service_tier {request.service_tier} has no effect here"
