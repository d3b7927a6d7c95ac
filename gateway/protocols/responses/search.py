"""Which deferred tools fit a query."""

from collections.abc import Mapping

from gateway.planning.tool_search import document, ranked

from .tool_set import Deferred

MOST_FOUND = 8


def search(query: str, deferred: Mapping[str, Deferred]) -> list[str]:
    """The names of the tools that fit best, the best first; none where no word fits."""
    return ranked(query, {name: _document(each) for name, each in deferred.items()})[:MOST_FOUND]


def _document(deferred: Deferred) -> list[str]:
    return document(deferred.placed.tool, (deferred.namespace or {}).get("description") or "")
