"""What a turn that goes on from the client's own text cannot promise: said before a byte goes out, never left out in silence."""

from gateway.chat.request import ChatRequest
from gateway.errors import RequestError


def check(request: ChatRequest) -> None:
    """RequestError where the rest of a begun turn could not keep what is demanded of the whole."""
    wanted = request.response_format
    if request.continues and wanted.kind != "text":
        raise RequestError(
            f"'{wanted.place}' cannot be held for an assistant message that is continued: it describes the whole message. "
            "Send one of the two.",
            param=wanted.place,
        )
