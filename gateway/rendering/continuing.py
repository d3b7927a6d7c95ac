"""A prompt that ends in the middle of the assistant's turn: the conversation's last message is rendered and cut behind its text.

The text is found by a mark behind it, so that what a template trims or adds at a turn's end does not matter.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .environment import RenderFailure, Template
from .opening import behind_thinking, common_prefix, without_thinking
from .placeholders import END

Chat = Mapping[str, Any]
Extra = Mapping[str, Any]


def continued(template: Template, chat: Sequence[Chat], described: Sequence[Chat], extra: Extra) -> tuple[str, str]:
    """The prompt, and what of it belongs to the turn that goes on. RenderFailure where the template does not show the turn's text
    as it is, or refuses the conversation."""
    *before, last = chat
    marked = {**last, "content": _marked(last.get("content"))}
    whole = template.render([*before, marked], described, generation=False, extra=extra)
    end = whole.rfind(END)
    said = behind_thinking(_text(last.get("content")))
    if end < 0 or not whole[:end].endswith(said):
        raise RenderFailure("it does not show the text of an unfinished turn as it is")
    prompt = whole[:end]
    try:
        bare, asking = (template.render(before, described, generation=on, extra=extra) for on in (False, True))
    except RenderFailure:
        return prompt, said
    turn = prompt[len(common_prefix(bare, prompt)) :]
    generation = asking[len(common_prefix(bare, asking)) :]
    header = without_thinking(common_prefix(generation, turn))
    return prompt, turn[len(header) :]


def _marked(content: Any) -> Any:
    if not isinstance(content, list):
        return f"{content or ''}{END}"
    return [*content[:-1], {**content[-1], "text": content[-1]["text"] + END}]


def _text(content: Any) -> str:
    return "".join(part["text"] for part in content) if isinstance(content, list) else content or ""
