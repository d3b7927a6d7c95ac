"""Where turns are recorded, and how much of them."""

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from .section import Section

Recorded = Literal["off", "errors", "all"]
"""Which turns of a model are recorded."""


class RecordingSettings(Section):
    """Files of recorded turns, which `toolwire replay` reads again. A model's `recorder` says which of its turns are in them."""

    folder: str = "recordings"
    """Folder of the files, each gateway its own; made when it is missing. The newest turns are in turns.jsonl."""
    content: Literal["whole", "masked"] = "whole"
    """What was said: as it was (whole), or with each letter and digit replaced, so that only framing, names of tools and of
    their parameters are left (masked)."""
    record_bytes: int = Field(default=1024 * 1024, ge=4096)
    """Largest record; a longer one loses its messages, and is not written if it is still too long."""
    file_bytes: int = Field(default=64 * 1024 * 1024, ge=65536)
    """Largest file; then the next one begins."""
    files: int = Field(default=8, ge=2)
    """Most files; the oldest goes when another begins."""

    @field_validator("folder")
    @classmethod
    def _beside_the_file(cls, value: str, info: ValidationInfo) -> str:
        return str(Path((info.context or {}).get("folder") or ".") / Path(value).expanduser())
