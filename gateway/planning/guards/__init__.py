"""What is done to a conversation before it is planned, so that an agent that runs in circles, or that shows the model too much,
does not cost without end. Each guard acts only where the model's entry says so, and tells the client in a warning."""

from dataclasses import dataclass, replace

from gateway.chat.request import ChatRequest

from ..catalog import ModelSpec
from .act import Act
from .definitions import within_budget
from .repeats import told_of_repeats
from .results import with_short_results
from .rounds import within_rounds

__all__ = ["Guarded", "guarded"]


@dataclass(frozen=True, slots=True)
class Guarded:
    """The conversation as it is planned, and the names of the guards that did something."""

    request: ChatRequest
    acted: tuple[str, ...] = ()


def guarded(request: ChatRequest, spec: ModelSpec) -> Guarded:
    """The request within its model's bounds."""
    found = Guarded(request)
    if not spec.guards.any:
        return found
    for act in (with_short_results, told_of_repeats, within_rounds):
        found = _acted(found, act(found.request, spec.guards))
    return _acted(found, within_budget(found.request, spec.guards, spec.renderer.count))


def _acted(before: Guarded, act: Act | None) -> Guarded:
    if act is None:
        return before
    request = replace(act.request, warnings=(*act.request.warnings, act.warning))
    return Guarded(request, (*before.acted, act.guard))
