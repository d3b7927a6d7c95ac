"""What an engine writes in one turn, kept while it comes, and handed to the recorder when the turn is over."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from gateway.chat.events import Piece
from gateway.chat.plan import Plan
from gateway.errors import AnswerInvalid, GatewayError
from gateway.planning.catalog import ModelSpec
from gateway.telemetry.logging import request_id
from gateway.telemetry.record import CLIENT_GONE, Record
from gateway.telemetry.recorder import Recorder

from .lines import Json
from .redaction import Redaction
from .writing import Answers, Taped, Verdict, line_of
from .writing import Piece as Played

IN_PROMPT, IN_TURN = 4, 40
"""Bytes that a character keeps in memory, about: in messages and token ids, and in pieces and events."""
SMALL = ("literal_marker",)
"""Notices that make no turn remarkable."""


@dataclass(frozen=True, slots=True)
class Recordings:
    """Where turns are recorded, and how much of them. `version`: the gateway's."""

    recorder: Recorder
    record_bytes: int
    redaction: Redaction = field(default_factory=Redaction)
    version: str = ""

    def of(self, spec: ModelSpec, record: Record) -> "Recording | None":
        """For one request to this model; None where its turns are not recorded."""
        if spec.recorder == "off":
            return None
        record.keeps = True
        return Recording(self, spec, record)


class Recording:
    """The turns of one request: more than one where it was asked again."""

    def __init__(self, rules: Recordings, spec: ModelSpec, record: Record) -> None:
        self._rules = rules
        self._spec = spec
        self._record = record
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
            if (piece.text or piece.finish_reason is not None) and self._length <= self._rules.record_bytes:
                self._pieces.append((at, piece.choice, piece.text, piece.finish_reason))
                self._length += len(piece.text)

    def end(self, answers: Answers, error: GatewayError | None, *, gone: bool = False) -> None:
        """The turn is over. `gone`: because nobody waited for it. A turn that was told already is not told again.

        `answers` is asked in the recorder's thread, as putting long answers together takes time."""
        plan, self._plan = self._plan, None
        failed = error is not None or self._remarkable() > self._remarks
        if plan is None or (self._spec.recorder == "errors" and not failed):
            return
        taped = Taped(
            facts=self._facts(plan),
            plan=plan,
            policy=self._policy,
            pieces=self._pieces,
            answers=answers,
            refused=error.code if isinstance(error, AnswerInvalid) else None,
            verdict=Verdict(CLIENT_GONE, "client_gone") if gone else Verdict.of(error),
        )
        redaction, room = self._rules.redaction, self._rules.record_bytes
        size = IN_PROMPT * len(plan.prompt.text) + IN_TURN * self._length
        self._rules.recorder.put(lambda: line_of(taped, redaction, room=room), size=size)

    def _remarkable(self) -> int:
        notices = self._record.notices
        return sum(notices.values()) - sum(notices.get(kind, 0) for kind in SMALL) + self._record.refused

    def _facts(self, plan: Plan) -> Json:
        """What it is known by."""
        return {
            "gateway": self._rules.version or None,
            "time": self._time,
            "request_id": request_id.get() or None,
            "key": self._record.key,
            "model": self._spec.name,
            "backend": self._record.backend,
            "engine": self._record.engines[-1] if self._record.engines else None,
            "engine_model": plan.model,
            "format": plan.format.name,
            "attempt": self._attempt,
        }
