"""Which tools fit a query: BM25 over the words of their names, descriptions and parameters."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from parsers import Tool

DEEPEST = 4
"""How far down in a schema words are collected."""
WORD = re.compile(r"[^\W_]+")
SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where one word of a name in camel case ends and the next begins."""


def ranked(query: str, documents: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of the documents that have words of the query, the best first. A document is a list of words."""
    import bm25s  # type: ignore[import-not-found,import-untyped,unused-ignore]

    wanted = words(query)
    if not wanted or not documents:
        return []
    names = list(documents)
    index = bm25s.BM25()
    index.index([list(documents[name]) for name in names], show_progress=False)
    scores = [float(score) for score in index.get_scores(wanted)]
    best = sorted(range(len(names)), key=lambda place: -scores[place])
    return [names[place] for place in best if scores[place] > 0]


def document(tool: Tool, about: str = "") -> list[str]:
    """A tool's words. The name counts twice: it says most about a tool. `about`: what is known of it besides."""
    schema = " ".join(_texts(tool.parameters, DEEPEST))
    return words(f"{tool.name} {tool.name} {about} {tool.description} {schema}")


def words(text: str) -> list[str]:
    """The words of a text, those inside of names too (`getUserByID`, `get_user`), without the plural's s."""
    return [_singular(word.lower()) for word in WORD.findall(SEAM.sub(" ", text))]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


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
