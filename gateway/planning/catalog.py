"""Model names and what stands behind them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gateway.backends.base import Backend
from gateway.chat.plan import Prompt
from gateway.errors import BackendUnavailable, UnknownModel
from gateway.settings import SamplingDefaults
from parsers import Format


class Renders(Protocol):
    """What a plan needs of a renderer: a conversation as a prompt; UnrenderableChat when the template refuses it."""

    def render(self, messages: Any, tools: Any, template_kwargs: Any) -> Prompt: ...


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One served model: how its turns are written, rendered, generated and limited."""

    name: str
    format: Format
    renderer: Renders
    backend: Backend
    engine_model: str
    """The name the engine knows it by."""
    aliases: tuple[str, ...] = ()
    context: int | None = None
    """Most tokens of prompt and answer together; None = not known, the engine decides."""
    max_tokens: int | None = None
    strict: Literal["fail", "report"] = "fail"
    sampling: SamplingDefaults = field(default_factory=SamplingDefaults)
    renders_tools: bool = True
    """Whether the chat template shows tools to the model."""
    created: int = 0


class Catalog:
    """The served models, found by name or alias."""

    def __init__(self, specs: Iterable[ModelSpec] = ()) -> None:
        self.waiting: dict[str, str] = {}
        """Configured models that cannot be served yet, and why."""
        self._specs: dict[str, ModelSpec] = {}
        self._by_name: dict[str, ModelSpec] = {}
        self._waiting_names: dict[str, str] = {}
        for spec in specs:
            self.add(spec)

    def expect(self, name: str, aliases: Iterable[str], *, reason: str) -> None:
        """This model is configured but cannot be served yet."""
        self.waiting[name] = reason
        self._waiting_names.update(dict.fromkeys((name, *aliases), name))

    def add(self, spec: ModelSpec) -> None:
        """Serve this model from now on."""
        self.waiting.pop(spec.name, None)
        self._specs[spec.name] = spec
        for name in (spec.name, *spec.aliases):
            self._by_name[name] = spec

    def find(self, name: str) -> ModelSpec:
        """The model of this name or alias. UnknownModel lists what there is; BackendUnavailable: it cannot be served yet."""
        spec = self._by_name.get(name)
        if spec is not None:
            return spec
        reason = self.waiting.get(self._waiting_names.get(name, ""))
        if reason is not None:
            raise BackendUnavailable(f"The model `{name}` cannot be served yet: {reason}", param="model")
        known = ", ".join(f"`{each}`" for each in {**self._by_name, **self._waiting_names}) or "none"
        shown = name if len(name) <= 100 else name[:100] + "..."
        raise UnknownModel(
            f"The model `{shown}` does not exist or you do not have access to it. Served here: {known}.", param="model"
        )

    def __iter__(self) -> Iterator[ModelSpec]:
        return iter(self._specs.values())

    def __len__(self) -> int:
        return len(self._specs)
