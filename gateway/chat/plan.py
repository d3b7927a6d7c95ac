"""Everything decided before a byte goes out to the engine."""

from dataclasses import dataclass, field
from typing import Any, Literal

from parsers import Format, Tool

from .request import ChatRequest, Sampling

Dialect = Literal["structural_tag", "lark"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered conversation. `opening` is what the prompt already holds of the assistant's turn; control tokens that client
    text spells are blotted out in it.

    `token_ids` is None where no tokenizer is at hand; the engine then tokenizes `text` (which includes a bos token).
    """

    text: str
    token_ids: tuple[int, ...] | None
    opening: str
    warnings: tuple[str, ...] = ()
    """What the conversation lost, or where something moved, to fit the model's template."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """What limits decoding. `value`: a structural tag or JSON Schema object, or Lark text; as the backend's dialect wants it."""

    kind: Literal["structural_tag", "json_schema", "json_object", "lark"]
    value: Any


@dataclass(frozen=True, slots=True)
class Plan:
    """One engine request. `tools` are those a call may name (empty when the tool channel is off)."""

    request: ChatRequest
    model: str
    format: Format
    prompt: Prompt
    tools: tuple[Tool, ...]
    sampling: Sampling
    constraint: Constraint | None = None
    stop_token_texts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default_factory=tuple)
    loose: frozenset[str] = frozenset()
    """Tools whose schemas the constraint does not hold, or not wholly: their calls are sure only once they have been checked."""
    loose_answer: bool = False
    """The same of the response format."""
    guards: tuple[str, ...] = ()
    """The guards that changed or reported the conversation."""
    hidden: str | None = None
    """A function among the tools that the client knows nothing of: the model calls it to answer in words."""
