"""The tools of one request, and the way back: which of the client's tools a call of the model means.

Functions in a namespace get a name of their own (`crm__get_customer`), because two namespaces may use the same inner name.
Tools whose loading is deferred are not shown to the model until a search has found them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from parsers import Tool

Json = dict[str, Any]
Kind = Literal["function", "custom", "server_search", "client_search"]


@dataclass(frozen=True, slots=True)
class Target:
    """What the client calls a tool, and what a call of it is."""

    name: str
    namespace: str | None = None
    kind: Kind = "function"


@dataclass(frozen=True, slots=True)
class Placed:
    """A tool as the model sees it, and where its schema stands in the request."""

    tool: Tool
    place: str


@dataclass(frozen=True, slots=True)
class Deferred:
    """A tool that waits for being found, and how it is told to the client then."""

    placed: Placed
    shown: Json
    namespace: Json | None = None
    """Its namespace, without tools."""


@dataclass(slots=True)
class ToolSet:
    """What the model may call, now or once it was found."""

    declared: list[Placed] = field(default_factory=list)
    deferred: dict[str, Deferred] = field(default_factory=dict)
    targets: dict[str, Target] = field(default_factory=dict)
    """The name of each tool -> what the client calls it."""
    search: str | None = None
    """The name of the tool that finds deferred ones, if there is one."""
    most_searches: int = 8
    """Turns of one response that may search; the next one cannot."""
    echo: list[Json] = field(default_factory=list)
    """The tools as the answer tells them back."""
    warnings: list[str] = field(default_factory=list)
    implied: list[tuple[str, Json]] = field(default_factory=list)
    """Names of functions that are strict without having asked for it, and how each is told back."""
    _names: dict[tuple[str, str | None], str] = field(default_factory=dict)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What the model may call now."""
        return tuple(placed.tool for placed in self.declared)

    @property
    def places(self) -> tuple[str, ...]:
        """Where the schema of each of them stands in the request."""
        return tuple(placed.place for placed in self.declared)

    @property
    def searched_here(self) -> bool:
        """Whether it is the gateway that searches."""
        return self.search is not None and self.targets[self.search].kind == "server_search"

    def add_target(self, target: Target) -> str | None:
        """A name for this tool that no other has; None when there is such a tool already."""
        key = (target.name, target.namespace)
        if key in self._names:
            return None
        name = qualified(*key)
        while name in self.targets:
            name += "_"
        self.targets[name] = target
        self._names[key] = name
        return name

    def name_of(self, name: str, namespace: str | None) -> str:
        """The name the model knows a tool of the client by, be it declared or only in the history."""
        return self._names.get((name, namespace)) or qualified(name, namespace)

    def load(self, name: str) -> None:
        """Show this tool to the model from now on, if it was deferred."""
        found = self.deferred.pop(name, None)
        if found is not None:
            self.declared.append(found.placed)

    def loosen(self) -> bool:
        """Make functions strict only where the client said so; whether that makes a difference."""
        names = {name for name, _ in self.implied}
        for _, echo in self.implied:
            echo["strict"] = False
        self.declared = [_loosened(placed) if placed.tool.name in names else placed for placed in self.declared]
        for name in names & self.deferred.keys():
            self.deferred[name] = replace(self.deferred[name], placed=_loosened(self.deferred[name].placed))
        self.implied = []
        return bool(names)


def _loosened(placed: Placed) -> Placed:
    return replace(placed, tool=replace(placed.tool, strict=False))


def qualified(name: str, namespace: str | None) -> str:
    """A name for a function in a namespace."""
    return f"{namespace}__{name}" if namespace else name


def shown_together(found: Sequence[Deferred]) -> list[Json]:
    """Deferred tools as the client is told of them: those of one namespace stand in it."""
    shown: list[Json] = []
    spaces: dict[str, Json] = {}
    for each in found:
        if each.namespace is None:
            shown.append(each.shown)
            continue
        name = each.namespace["name"]
        if name not in spaces:
            spaces[name] = {**each.namespace, "tools": []}
            shown.append(spaces[name])
        spaces[name]["tools"].append(each.shown)
    return shown
