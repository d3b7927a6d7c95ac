"""A recorded turn once more, through today's parser or another."""

from collections.abc import Mapping
from typing import Any

import parsers
from gateway.chat.events import Piece
from gateway.errors import AnswerInvalid
from gateway.rendering import Renderer
from gateway.telemetry.record import Record
from parsers import Format, Tool

from ..choice import Choice
from .lines import KIND, Json, chat_of, outcome_of, plan_of


class NotRecorded(ValueError):
    """The line is no recorded turn."""


class _Unheard(Record):
    """Of a turn that was told of when it came."""

    def refuse(self, reason: str) -> None:
        """Nobody waits for it."""


def play(record: Mapping[str, Any], fmt: Format | None = None, opening: str | None = None) -> Json:
    """What becomes of the turn now, in the shape of a line's `outcome`. `fmt`, `opening`: others than those of the line.

    NotRecorded: it is no such line; UnknownFormat: its format is not known here.
    """
    if record.get("toolwire") != KIND:
        raise NotRecorded(f"it is not a recorded turn of this version ({KIND})")
    fmt = parsers.get(record["format"]) if fmt is None else fmt
    told = _Unheard(keeps=True)
    try:
        plan = plan_of(record, fmt, opening)
        choices = [Choice(plan, told, policy=record["plan"]["policy"]) for _ in range(plan.sampling.n)]
        refused = _feed(choices, record["pieces"])
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise NotRecorded(f"it is not a recorded turn ({type(error).__name__}: {error})") from None
    return outcome_of(((choice.answer(), choice.finish) for choice in choices), refused)


def opening_with(renderer: Renderer, record: Mapping[str, Any]) -> str:
    """What another template opens of the turn. UnrenderableChat: it refuses the conversation."""
    if not record["request"]["messages"]:
        raise NotRecorded("its messages were too long to be recorded, so that no other template can open it")
    chat, hidden = chat_of(record), record["plan"]["hidden"]
    shown = () if chat.tool_choice.mode == "none" else (*chat.tools, *((Tool(**hidden),) if hidden else ()))
    return renderer.render(chat.messages, shown, chat.template_kwargs, continues=chat.continues).opening


def _feed(choices: list[Choice], pieces: Any) -> str | None:
    """Let the choices read; the code of the error that ended it."""
    for _, place, text, *finish in pieces:
        if choices[place].done:
            continue
        try:
            choices[place].take(Piece(place, text, finish_reason=finish[0] if finish else None))
        except AnswerInvalid as error:
            return error.code
    return None
