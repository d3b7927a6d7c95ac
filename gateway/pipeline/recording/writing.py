"""A turn as one line of JSON, with nothing in it that may not be written down."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from gateway.chat.plan import Plan
from gateway.errors import GatewayError
from parsers import Message

from .lines import KIND, Json, outcome_of, plan_facts, request_of
from .play import play
from .redaction import Redaction, kept_words

Piece = tuple[float, int, str, str | None]
"""Milliseconds after the beginning, choice, text, and how the choice ended if it did."""
Answers = Callable[[], Sequence[tuple[Message, str]]]
"""Gives each choice's message and how it ended."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the request stood when the turn was over."""

    status: int
    code: str | None = None
    message: str | None = None

    @classmethod
    def of(cls, error: GatewayError | None) -> "Verdict":
        """The error's; a good one where there is none."""
        return cls(200) if error is None else cls(error.status, error.code or error.type, error.message)


@dataclass(frozen=True, slots=True)
class Taped:
    """A turn that is over. `facts`: what it is known by. `refused`: the code of the error that the answer itself is."""

    facts: Json
    plan: Plan
    policy: str
    pieces: Sequence[Piece]
    answers: Answers
    refused: str | None
    verdict: Verdict


def line_of(taped: Taped, redaction: Redaction, *, room: int) -> str | None:
    """The line; without messages where they do not fit, None where the rest does not either."""
    record = _record(taped, redaction)
    line = _text(record)
    if len(line) >= room:
        record["request"]["messages"] = None
        record["left_out"] = ["messages"]
        line = _text(record)
    return line if len(line) < room else None


def _text(record: Json) -> str:
    """In ASCII, so that characters are bytes and half a surrogate pair can be written."""
    return json.dumps(record, separators=(",", ":"), default=str)


def _record(taped: Taped, redaction: Redaction) -> Json:
    kept = kept_words(taped.plan)
    hide = redaction.deep(kept)
    pieces, changed = _redacted(taped.pieces, redaction, kept)
    verdict = asdict(taped.verdict)
    record: Json = {
        "toolwire": KIND,
        **taped.facts,
        "time": datetime.fromtimestamp(taped.facts["time"], UTC).isoformat(timespec="milliseconds"),
        "request": request_of(taped.plan.request, hide),
        "plan": plan_facts(taped.plan, taped.policy, hide),
        "pieces": [piece if piece[3] else piece[:3] for piece in pieces],
        "outcome": outcome_of(taped.answers(), taped.refused),
        "verdict": {**verdict, "message": None if redaction.masks else hide(verdict["message"])},
    }
    if changed or redaction.masks:
        record["redacted"] = "masked" if redaction.masks else "secrets"
        record["outcome"] = play(record)
    return record


def _redacted(pieces: Sequence[Piece], redaction: Redaction, kept: frozenset[str]) -> tuple[list[Piece], bool]:
    """The pieces with what nobody may read replaced, cut in the same places: a secret may stand in several of them."""
    hidden = {
        choice: redaction.text("".join(piece[2] for piece in pieces if piece[1] == choice), kept)
        for choice in {piece[1] for piece in pieces}
    }
    found: list[Piece] = []
    places = dict.fromkeys(hidden, 0)
    for at, choice, text, finish in pieces:
        begin = places[choice]
        places[choice] = begin + len(text)
        found.append((at, choice, hidden[choice][begin : begin + len(text)], finish))
    return found, any(new[2] != old[2] for new, old in zip(found, pieces, strict=True))
