"""What the request bodies of all protocols have in common."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Tag, model_validator

Temperature = Annotated[float, Field(ge=0.0, le=2.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
ToolName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$", max_length=128)]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Text = Annotated[str, Tag("(text)")]
"""A string, where something else may stand too. Tags in parentheses are ours, so errors leave them out of the field's path."""

MOST_NAMED = 16


class Body(BaseModel):
    """An object of the request. Unknown keys are ignored; an explicit null is the same as a key that is not there."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, raw: Any) -> Any:
        return {key: value for key, value in raw.items() if value is not None} if isinstance(raw, dict) else raw


def text_or_parts(value: Any) -> str | None:
    """Which tag a value has that may be a string or an array."""
    return "(text)" if isinstance(value, str) else "(parts)" if isinstance(value, list) else None


def without_effect(body: Mapping[str, Any], known: type[BaseModel], silent: frozenset[str]) -> Iterator[str]:
    """A warning for each field that is neither known nor among those that say nothing about the answer."""
    names = [name for name, value in body.items() if value is not None and name not in known.model_fields and name not in silent]
    for name in names[:MOST_NAMED]:
        yield f"{name} has no effect here"
    if len(names) > MOST_NAMED:
        yield f"{len(names) - MOST_NAMED} more fields have no effect here"
