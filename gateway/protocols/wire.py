"""What the request bodies of all protocols have in common."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

Temperature = Annotated[float, Field(ge=0.0, le=2.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Penalty = Annotated[float, Field(ge=-2.0, le=2.0)]
Bias = Annotated[float, Field(ge=-100.0, le=100.0)]
LogitBias = Annotated[dict[str, Bias], Field(max_length=1024)]
Seed = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
Positive = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
ToolName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$", max_length=128)]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Text = Annotated[str, Tag("(text)")]
"""A string, where something else may stand too. Tags in parentheses are ours, so errors leave them out of the field's path."""


def text_or_parts(value: Any) -> str | None:
    """Which tag a value has that may be a string or an array."""
    return "(text)" if isinstance(value, str) else "(parts)" if isinstance(value, list) else None


def text_or_object(value: Any) -> str | None:
    """Which tag a value has that may be a string or an object."""
    return "(text)" if isinstance(value, str) else "(object)" if isinstance(value, dict) else None


MOST_STOPS = 16
"""Every one is looked for behind every token. OpenAI takes four."""
Stop = Annotated[
    Text | Annotated[list[str], Field(max_length=MOST_STOPS), Tag("(parts)")],
    Discriminator(text_or_parts, "wrong_type", "one of a string or array of strings"),
]
MOST_NAMED = 16


class Body(BaseModel):
    """An object of the request. Unknown keys are ignored; an explicit null is the same as a key that is not there."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, raw: Any) -> Any:
        if not isinstance(raw, dict) or None not in raw.values():
            return raw
        return {key: value for key, value in raw.items() if value is not None}


class EngineExtras(Body):
    """What goes on to the engine as it came, in vLLM's names; engines that do not know one ignore it."""

    top_k: int | None = None
    min_p: Share | None = None
    repetition_penalty: Annotated[float, Field(gt=0.0)] | None = None
    length_penalty: float | None = None
    min_tokens: Natural | None = None
    stop_token_ids: list[Natural] | None = None
    bad_words: list[str] | None = None
    ignore_eos: bool | None = None
    allowed_token_ids: list[Natural] | None = None
    truncate_prompt_tokens: int | None = None
    thinking_token_budget: int | None = None
    priority: int | None = None
    cache_salt: Annotated[str, Field(min_length=1)] | None = None
    kv_transfer_params: dict[str, Any] | None = None
    vllm_xargs: dict[str, Any] | None = None
    repetition_detection: dict[str, Any] | None = None

    def extras(self) -> dict[str, Any]:
        """Those that the request has."""
        given = self.model_fields_set
        return {} if given.isdisjoint(EXTRAS) else {name: getattr(self, name) for name in EXTRAS if name in given}


EXTRAS = tuple(EngineExtras.model_fields)


def stop_texts(stop: str | list[str]) -> tuple[str, ...]:
    """The texts that end an answer, however they were given. An empty one would end it at once, and is none."""
    return tuple(text for text in ([stop] if isinstance(stop, str) else stop) if text)


def without_effect(body: Mapping[str, Any], known: type[BaseModel], silent: frozenset[str]) -> Iterator[str]:
    """A warning for each field that is neither known nor among those that say nothing about the answer."""
    heeded = _heeded(known, silent)
    if heeded.issuperset(body):
        return
    names = [name for name, value in body.items() if value is not None and name not in heeded]
    for name in names[:MOST_NAMED]:
        yield f"{name} has no effect here"
    if len(names) > MOST_NAMED:
        yield f"{len(names) - MOST_NAMED} more fields have no effect here"


@cache
def _heeded(known: type[BaseModel], silent: frozenset[str]) -> frozenset[str]:
    return silent.union(known.model_fields)
