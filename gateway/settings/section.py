"""What all groups of keys in the configuration have in common."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError


class Section(BaseModel):
    """A group of keys. Unknown ones are refused here, where the known ones can be named."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, raw: Any) -> Any:
        for key in raw if isinstance(raw, Mapping) else ():
            if key not in cls.model_fields:
                hint = nearest(str(key), cls.model_fields) or f"known keys: {', '.join(cls.model_fields)}"
                raise PydanticCustomError("unknown_key", "unknown key '{key}'; {hint}", {"key": str(key), "hint": hint})
        return raw


def nearest(word: str, known: Any) -> str | None:
    """`did you mean 'x'?` when something known is close."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else None


def beside(value: str, info: ValidationInfo) -> str:
    """A path as written in the file, seen from the file's folder. What is not there is left as it is (a hub id)."""
    folder = (info.context or {}).get("folder")
    if folder is None or Path(value).is_absolute():
        return value
    found = Path(folder) / Path(value).expanduser()
    return str(found) if found.exists() or value.startswith(("./", "../")) else value
