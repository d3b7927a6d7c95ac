"""What an engine writes in one turn, kept while it comes, and handed to the recorder when the turn is over."""

import time
from collections.abc import Iterable, Sequence

from gateway.chat.events import Piece
from gateway.chat.plan import Plan
from gateway.errors import AnswerInvalid, GatewayError
from gateway.planning.catalog import ModelSpec
from gateway.telemetry.logging import request_id
from gateway.telemetry.record import CLIENT_GONE, Record
from gateway.telemetry.recorder import Recorder
from parsers import Message

from .lines import Json
from .redaction import Redaction
from .writing import Piece as Played
from .writing import Taped, Verdict, line_of

SMALL = ("literal_marker",)
"""Notices that make no turn remarkable."""


class Recording:
    """The turns of one request: more than one where it was asked again."""

    def __init__(self, recorder: Recorder, spec: ModelSpec, record: Record, redaction: Redaction, *, room: int) -> None:
        self._recorder = recorder
        self._spec = spec
        self._record = record
        self._redaction = redaction
        self._room = room
        self._attempt = 0
        self._plan: Plan | None = None

    def begin(self, plan: Plan, policy: str) -> None:
        """The engine is about to be asked."""
        self._plan, self._policy = plan, policy
        self._attempt += 1
        self._time, self._began = time.time(), time.perf_counter()
        self._pieces: list[Played] = []
        self._length = 0
        self._remarks = self._remarkable()

    def take(self, pieces: Iterable[Piece]) -> None:
        """It wrote these. What is longer than a record may be is not kept."""
        at = round((time.perf_counter() - self._began) * 1000, 2)
        for piece in pieces:
            if (piece.text or piece.finish_reason is not None) and self._length <= self._room:
                self._pieces.append((at, piece.choice, piece.text, piece.finish_reason))
                self._length += len(piece.text)

    def end(self, answers: Sequence[tuple[Message, str]], error: GatewayError | None, *, gone: bool = False) -> None:
        """The turn is over. `gone`: because nobody waited for it. A turn that was told already is not told again."""
        plan, self._plan = self._plan, None
        failed = error is not None or self._remarkable() > self._remarks
        if plan is None or (self._spec.recorder == "errors" and not failed):
            return
        taped = Taped(
            facts=self._facts(plan),
            plan=plan,
            policy=self._policy,
            pieces=self._pieces,
            answers=tuple(answers),
            refused=error.code if isinstance(error, AnswerInvalid) else None,
            verdict=Verdict(CLIENT_GONE, "client_gone") if gone else Verdict.of(error),
        )
        redaction, room = self._redaction, self._room
        size = len(plan.prompt.text) + 2 * self._length
        self._recorder.put(lambda: line_of(taped, redaction, room=room), size=size)

    def _remarkable(self) -> int:
        notices = self._record.notices
        return sum(notices.values()) - sum(notices[kind] for kind in SMALL) + self._record.refused

    def _facts(self, plan: Plan) -> Json:
        """What it is known by."""
        return {
            "time": self._time,
            "request_id": request_id.get() or None,
            "key": self._record.key,
            "model": self._spec.name,
            "backend": self._record.backend,
            "engine_model": plan.model,
            "format": plan.format.name,
            "attempt": self._attempt,
        }
