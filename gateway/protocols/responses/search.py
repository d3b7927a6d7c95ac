"""Which deferred tools fit a query: BM25 over the words of their names, descriptions and parameters."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .tool_set import Deferred

MOST_FOUND = 8
DEEPEST = 4
"""How far down in a schema words are collected."""
WORD = re.compile(r"[^\W_]+")
SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where one word of a name in camel case ends and the next begins."""


def search(query: str, deferred: Mapping[str, Deferred]) -> list[str]:
    """The names of the tools that fit best, the best first; none where no word fits."""
    import bm25s  # type: ignore[import-not-found,import-untyped,unused-ignore]

    wanted = words(query)
    if not wanted or not deferred:
        return []
    names = list(deferred)
    index = bm25s.BM25()
    index.index([_document(deferred[name]) for name in names], show_progress=False)
    scores = [float(score) for score in index.get_scores(wanted)]
    ranked = sorted(range(len(names)), key=lambda place: -scores[place])
    return [names[place] for place in ranked[:MOST_FOUND] if scores[place] > 0]


def words(text: str) -> list[str]:
    """The words of a text, those inside of names too (`getUserByID`, `get_user`), without the plural's s."""
    return [_singular(word.lower()) for word in WORD.findall(SEAM.sub(" ", text))]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _document(deferred: Deferred) -> list[str]:
    """The name counts twice: it says most about a tool."""
    name = deferred.placed.tool.name
    space = (deferred.namespace or {}).get("description") or ""
    schema = " ".join(_texts(deferred.placed.tool.parameters, DEEPEST))
    return words(f"{name} {name} {space} {deferred.placed.tool.description} {schema}")


def _texts(schema: Any, depth: int) -> Iterator[str]:
    """Names and descriptions of the properties in a schema."""
    if not isinstance(schema, Mapping) or depth == 0:
        return
    if isinstance(description := schema.get("description"), str):
        yield description
    properties = schema.get("properties")
    for name, inner in (properties if isinstance(properties, Mapping) else {}).items():
        yield str(name)
        yield from _texts(inner, depth - 1)
    yield from _texts(schema.get("items"), depth - 1)
