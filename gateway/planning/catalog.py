"""Model names and what stands behind them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, Protocol

from gateway.backends.base import Backend
from gateway.chat.plan import Prompt
from gateway.errors import BackendUnavailable, ModelNotAllowed, UnknownModel
from gateway.middleware.caller import may_use
from gateway.settings import GuardSettings, Recorded, SamplingDefaults, Wire
from parsers import Format

from .strict import Policy


class Renders(Protocol):
    """What a plan needs of a renderer."""

    def render(self, messages: Any, tools: Any, template_kwargs: Any, *, continues: bool) -> Prompt:
        """A conversation as a prompt; UnrenderableChat when the template refuses it."""
        ...

    def count(self, text: str) -> int | None:
        """How many tokens a text has; None where only the engine knows."""
        ...


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
    strict: Literal["fail", "retry", "report"] = "fail"
    """What happens when an answer breaks what the request demanded."""
    strict_policy: Policy = "openai"
    """Which schemas strict tools and answers may have."""
    required_fallback: Literal["none", "no_tool"] = "none"
    """Whether a model may answer in words when a call is required and no tool fits."""
    parallel_calls: bool = True
    """Whether a turn may have several calls."""
    sampling: SamplingDefaults = field(default_factory=SamplingDefaults)
    renders_tools: bool = True
    """Whether the chat template shows tools to the model."""
    template_check: Literal["pass", "warn", "fail"] | None = None
    """The verdict on the chat template; None when it was not looked at."""
    strict_history: bool = False
    """Whether a broken earlier turn is refused instead of healed."""
    wire: Wire = "openai"
    """How answers are written where clients want opposite things."""
    recorder: Recorded = "off"
    """Which of its turns are recorded."""
    guards: GuardSettings = field(default_factory=GuardSettings)
    """Bounds on conversations with tools."""
    created: int = 0


class Catalog:
    """The served models, found by name or alias. An alias may be a pattern (`claude-*`), which stands behind all exact names."""

    def __init__(self, specs: Iterable[ModelSpec] = ()) -> None:
        self.waiting: dict[str, str] = {}
        """Configured models that cannot be served, yet or any more, and why."""
        self.fallbacks: dict[str, str] = {}
        """Which model answers when no engine of another can."""
        self._specs: dict[str, ModelSpec] = {}
        self._owners: dict[str, str] = {}
        """Every name, alias and pattern -> the model's own name."""
        for spec in specs:
            self.add(spec)

    def expect(self, name: str, aliases: Iterable[str], *, reason: str) -> None:
        """This model is configured but cannot be served, yet or any more."""
        self._specs.pop(name, None)
        self.waiting[name] = reason
        self._owners.update(dict.fromkeys((name, *aliases), name))

    def add(self, spec: ModelSpec) -> None:
        """Serve this model from now on."""
        self.waiting.pop(spec.name, None)
        self._specs[spec.name] = spec
        self._owners.update(dict.fromkeys((spec.name, *spec.aliases), spec.name))

    def find(self, name: str) -> ModelSpec:
        """The model of this name or alias. ModelNotAllowed: not for the caller's key; UnknownModel lists what there is for it;
        BackendUnavailable: it cannot be served yet."""
        owner = self.owner(name)
        shown = name if len(name) <= 100 else name[:100] + "..."
        if not may_use(name, *(() if owner is None else (owner,))):
            raise ModelNotAllowed(f"The model `{shown}` is not one that this API key may use.", param="model")
        if owner is None:
            known = ", ".join(f"`{each}`" for each, own in self._owners.items() if may_use(each, own)) or "none"
            raise UnknownModel(
                f"The model `{shown}` does not exist or you do not have access to it. Served here: {known}.", param="model"
            )
        if owner in self._specs:
            return self._specs[owner]
        raise BackendUnavailable(f"The model `{shown}` cannot be served now: {self.waiting[owner]}", param="model")

    def owner(self, name: str) -> str | None:
        """The own name of the model that has this name or alias."""
        return self._owners.get(name) or self._owner_by_pattern(name)

    def instead_of(self, name: str) -> ModelSpec | None:
        """The fallback of the model of this name; None where there is none that is served and that the caller's key may use."""
        if not self.fallbacks:
            return None
        spec = self._specs.get(self.fallbacks.get(self.owner(name) or "", ""))
        return spec if spec is not None and may_use(spec.name, *spec.aliases) else None

    def answering(self, name: str) -> ModelSpec:
        """The model that is asked first: that of this name, or its fallback while it cannot be served. Errors as in find."""
        try:
            return self.find(name)
        except BackendUnavailable:
            spec = self.instead_of(name)
            if spec is None:
                raise
            return spec

    def _owner_by_pattern(self, name: str) -> str | None:
        """The longest pattern says most about a name, so it wins."""
        fitting = [alias for alias in self._owners if is_pattern(alias) and fnmatchcase(name, alias)]
        return self._owners[max(fitting, key=len)] if fitting else None

    def visible(self) -> list[ModelSpec]:
        """The served models that the caller's key may use."""
        return [spec for spec in self if may_use(spec.name, *spec.aliases)]

    def __iter__(self) -> Iterator[ModelSpec]:
        return iter(self._specs.values())

    def __len__(self) -> int:
        return len(self._specs)


def is_pattern(alias: str) -> bool:
    """Whether an alias stands for many names."""
    return "*" in alias
