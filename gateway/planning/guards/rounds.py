"""How often a conversation may call tools."""

from dataclasses import replace

from gateway.chat.request import ChatRequest, ToolChoice
from gateway.settings import GuardSettings

from .act import Act, since_question, with_note

NOTE = "Tools were called in {rounds} turns, and no more calls are possible. Answer now, with what is known."


def within_rounds(request: ChatRequest, bounds: GuardSettings) -> Act | None:
    """Withholds the tools, and has the model answer, once the bound is reached."""
    if not request.tools or request.tool_choice.mode == "none":
        return None
    for most, start, span in (
        (bounds.tool_rounds_per_question, since_question(request), "since the user's last message"),
        (bounds.tool_rounds, 0, "in this conversation"),
    ):
        rounds = sum(1 for message in request.messages[start:] if message.get("tool_calls"))
        if most is not None and rounds >= most:
            answering = replace(request, tools=(), tool_places=(), tool_choice=ToolChoice("none"))
            warning = f"tools were withheld: there were {rounds} turns with calls {span}, and at most {most} are allowed"
            return Act("tool_rounds", with_note(answering, NOTE.format(rounds=rounds)), warning)
    return None
