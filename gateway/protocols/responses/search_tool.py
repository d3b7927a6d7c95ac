"""The tool with which the model finds tools whose loading is deferred.

Before a search the model sees namespaces by name and description, and single tools likewise: no schema.
"""

from collections.abc import Iterator
from textwrap import shorten
from typing import Any

from parsers import Tool

from . import schema as wire
from .tool_set import Placed, Target, ToolSet

Json = dict[str, Any]
SEARCH = "tool_search"
DESCRIPTION = "Finds tools that are not listed here. What it finds can be called afterwards."
PARAMETERS: Json = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "What the tools should do, in a few words."}},
    "required": ["query"],
    "additionalProperties": False,
}
MOST_SHOWN = 200
"""Characters of a description in the list of what can be found."""


def add_search(found: ToolSet, search: wire.ToolSearch, place: str) -> None:
    """Let the model search. The gateway can only search what is deferred; clients may know more tools."""
    here = search.execution == "server"
    if here and not found.deferred:
        found.warnings.append("tool_search has nothing to find: no tool has defer_loading")
        return
    found.search = found.add_target(Target(SEARCH, kind="server_search" if here else "client_search"))
    if found.search is None:
        found.warnings.append("tool_search was ignored, and everything loaded: another tool has its name")
        for name in list(found.deferred):
            found.load(name)
        return
    surface = "\n".join(_surface(found))
    description = "\n".join(filter(None, (search.description or DESCRIPTION, surface and f"There are:\n{surface}")))
    parameters = PARAMETERS if here or search.parameters is None else search.parameters
    found.declared.append(Placed(Tool(found.search, description, parameters), place))


def _surface(found: ToolSet) -> Iterator[str]:
    """A line for each namespace and each single tool that can be found."""
    spaces: dict[str, str] = {}
    for deferred in found.deferred.values():
        if deferred.namespace is None:
            yield f"- {deferred.shown['name']}: {shorten(deferred.shown.get('description') or '', MOST_SHOWN)}"
        else:
            spaces[deferred.namespace["name"]] = deferred.namespace.get("description") or ""
    for name, description in spaces.items():
        yield f"- namespace {name}: {shorten(description, MOST_SHOWN)}"
