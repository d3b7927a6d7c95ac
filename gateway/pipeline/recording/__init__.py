"""Turns on disk: what the model was asked, the raw text that it wrote, what became of it; and such a turn played once more."""

from dataclasses import dataclass, field

from gateway.planning.catalog import ModelSpec
from gateway.telemetry.record import Record
from gateway.telemetry.recorder import Recorder

from .redaction import Redaction
from .tape import Recording

__all__ = ["Recording", "Recordings", "Redaction"]


@dataclass(frozen=True, slots=True)
class Recordings:
    """Where turns are recorded, and how much of them."""

    recorder: Recorder
    record_bytes: int
    redaction: Redaction = field(default_factory=Redaction)

    def of(self, spec: ModelSpec, record: Record) -> Recording | None:
        """For one request to this model; None where its turns are not recorded."""
        if spec.recorder == "off":
            return None
        record.keeps = True
        return Recording(self.recorder, spec, record, self.redaction, room=self.record_bytes)
