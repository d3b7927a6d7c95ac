"""When another model may answer a request, because no engine of its own can."""

from gateway.chat.request import ChatRequest
from gateway.errors import AnswerInvalid, GatewayError
from gateway.planning.catalog import ModelSpec


def elsewhere(error: GatewayError) -> bool:
    """Whether another model might not fail in this way."""
    return (error.status == 429 or error.status >= 500) and not isinstance(error, AnswerInvalid)


def fits(request: ChatRequest, spec: ModelSpec) -> bool:
    """Whether the model can do what the request demands. Whether the prompt fits its context shows when it is planned."""
    if request.tools and not spec.renders_tools:
        return False
    return spec.backend.dialect is not None or not _held(request)


def notice(asked: str, spec: ModelSpec) -> str:
    """What the client is told."""
    return f"{spec.name} answers instead of {asked}, which cannot be reached now"


def _held(request: ChatRequest) -> bool:
    """Whether decoding must be held to something."""
    forced = request.tool_choice.mode in ("required", "named")
    return forced or request.response_format.binding or any(tool.strict for tool in request.tools)
