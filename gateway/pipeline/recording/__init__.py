"""Turns on disk: what the model was asked, the raw text that it wrote, what became of it; and such a turn played once more."""

from .redaction import Redaction
from .tape import Recording, Recordings

__all__ = ["Recording", "Recordings", "Redaction"]
