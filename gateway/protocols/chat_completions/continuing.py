"""`continue_final_message`: the answer is the rest of the conversation's last message, as vLLM has it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.chat.history import is_text_of_assistant
from gateway.errors import RequestError

from . import schema as wire


def check_continued(request: wire.ChatCompletionRequest, messages: Sequence[Mapping[str, Any]]) -> None:
    """RequestError where there is nothing to continue, or something else is asked for at the same time."""
    if request.add_generation_prompt:
        message = "'continue_final_message' and 'add_generation_prompt' exclude each other: send only one of them as true."
        raise RequestError(message, param="continue_final_message", code="invalid_parameter_combination")
    if not is_text_of_assistant(messages[-1]):
        message = "'continue_final_message' needs a last message of the assistant's without tool calls."
        raise RequestError(message, param=f"messages[{len(messages) - 1}]")


def unprompted(request: wire.ChatCompletionRequest) -> Iterator[str]:
    """A prompt that asks for nothing is not made: the model would go on in the user's name."""
    if request.add_generation_prompt is False and not request.continue_final_message:
        yield "add_generation_prompt: false has no effect without continue_final_message"
