"""Every failure a client can see. Each class fixes status, type and code; the message names the place and the remedy."""

from typing import Any


class GatewayError(Exception):
    """Base. `param` is the request field at fault, in OpenAI's dotted notation; `retryable` answers `x-should-retry`.

    `warnings` are those of the request that failed, where it had been planned before."""

    status = 500
    type = "server_error"
    code: str | None = None
    retryable = False
    warnings: tuple[str, ...] = ()
    retry_after: float | None = None
    """Seconds after which the same request may succeed."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        if code is not None:
            self.code = code
        if status is not None:
            self.status = status

    def body(self) -> dict[str, Any]:
        """OpenAI's error envelope, all four keys."""
        return {"error": {"message": self.message, "type": self.type, "param": self.param, "code": self.code}}


class SettingsError(GatewayError):
    """The configuration file or environment is wrong; only people who start the server see it."""

    code = "invalid_settings"


class RequestError(GatewayError):
    """The client's request cannot be served as it is."""

    status = 400
    type = "invalid_request_error"
    code: str | None = "invalid_value"


class BodyUnreadable(RequestError):
    """The body is not a JSON object; OpenAI gives no code here."""

    code = None


class BodyTooLarge(RequestError):
    """The body is longer than the server allows."""

    status = 413
    code = "request_too_large"


class CodingUnknown(RequestError):
    """The body is compressed in a way that is not read here; those in `accept` are."""

    status = 415
    code = "unsupported_media_type"

    def __init__(self, message: str, *, accept: str = "identity") -> None:
        super().__init__(message)
        self.accept = accept


class MethodNotAllowed(RequestError):
    """This URL knows only other methods: those in `allow`."""

    status = 405
    code = "method_not_allowed"

    def __init__(self, message: str, *, allow: str = "POST") -> None:
        super().__init__(message)
        self.allow = allow


class ResponseSchemaInvalid(RequestError):
    """The schema in `response_format` is not one; OpenAI gives no code here."""

    code = None


class ToolSchemaInvalid(RequestError):
    """A tool's parameters are not a schema that calls can be held to."""

    code = "invalid_function_parameters"


class UnrenderableChat(RequestError):
    """The model's chat template refuses this conversation."""

    code = "unrenderable_chat"


class ContextTooLong(RequestError):
    """Prompt and answer do not fit the model's context. `tokens`: the prompt's, and the context's, where they are known."""

    code = "context_length_exceeded"

    def __init__(self, message: str, *, tokens: tuple[int, int] | None = None) -> None:
        super().__init__(message, param="messages")
        self.tokens = tokens

    @classmethod
    def of(cls, prompt: int, context: int) -> "ContextTooLong":
        """In OpenAI's words, which make clients shorten the conversation."""
        return cls(
            f"This model's maximum context length is {context} tokens. However, your messages resulted in {prompt} tokens. "
            "Please reduce the length of the messages.",
            tokens=(prompt, context),
        )


class UnknownModel(RequestError):
    """No configured model has this name."""

    status = 404
    code = "model_not_found"


class AuthError(RequestError):
    """The key is missing or wrong (401), or may not do this (403)."""

    status = 401
    code: str | None = "invalid_api_key"


class KeyMissing(AuthError):
    """There is no key; OpenAI gives no code here."""

    code = None


class ModelNotAllowed(AuthError):
    """The key is good, but not for this model."""

    status = 403
    code = "model_not_allowed"


class LimitError(GatewayError):
    """A limit is reached, until `retry_after` seconds have passed."""

    status = 429
    type = "requests"
    code = "rate_limit_exceeded"
    retryable = True

    def __init__(self, message: str, *, retry_after: float, param: str | None = None) -> None:
        super().__init__(message, param=param)
        self.retry_after = retry_after


class TokenLimitError(LimitError):
    """A limit of tokens is reached."""

    type = "tokens"


class BudgetSpent(LimitError):
    """The tokens of a day or a month are used up: to try again soon is of no use."""

    type = "insufficient_quota"
    code = "insufficient_quota"
    retryable = False


class StoreUnavailable(GatewayError):
    """What earlier requests left behind cannot be reached."""

    status = 503
    code = "store_unavailable"
    retryable = True
    retry_after = 1.0


class ServerStopping(GatewayError):
    """This gateway is being stopped; another one, or the same once it runs again, may take the request."""

    status = 503
    code = "server_stopping"
    retryable = True
    retry_after = 1.0


class BackendError(GatewayError):
    """The engine failed."""

    status = 502
    code = "backend_error"


class BackendUnavailable(BackendError):
    """No engine can be reached."""

    status = 503
    code = "backend_unavailable"
    retryable = True
    retry_after = 1.0


class BackendOverloaded(BackendUnavailable):
    """The engine answers, but only that it takes no request now."""


class BackendBusy(LimitError, BackendError):
    """The engine itself takes no more requests for now, and says after how many seconds it may (`retry_after`)."""


class BackendTimeout(BackendError):
    """The engine did not answer in time."""

    status = 504
    code = "timeout"


class BackendRefused(BackendError):
    """The engine answered with an error of its own; its status is kept when it is a client error."""

    code = "backend_refused"

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int | None = None) -> None:
        super().__init__(message, param=param, code=code, status=status)
        if self.status < 500:
            self.type = RequestError.type


class BackendGarbled(BackendError):
    """The engine's answer cannot be read."""

    code = "backend_garbled"


class AnswerInvalid(BackendError):
    """The model's answer does not satisfy what the request demanded of it."""


class ToolCallInvalid(AnswerInvalid):
    """A call breaks its tool's schema, or there is none where one was demanded."""

    code = "tool_call_invalid"


class ContentInvalid(AnswerInvalid):
    """The model's answer does not satisfy the strict response format."""

    code = "response_format_invalid"
