"""Schemas without `$ref`: what it points to stands in its place, for templates that show no definitions."""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
_DEFINITIONS = ("$defs", "definitions")
_DATA = ("enum", "const", "default", "examples")
_MOST = 4096
"""Schemas of which more nodes would be made keep their links: definitions that name others twice grow without end."""


class _TooLarge(Exception):
    pass


class _Resolver:
    """Resolves the links of one schema; `left` tells whether some stay, because a definition holds itself or is not found."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._made = 0
        self.left = False

    def resolved(self, node: Any, opened: tuple[str, ...] = ()) -> Any:
        """The node with links replaced, but for those to a definition that is `opened` already."""
        self._made += 1
        if self._made > _MOST:
            raise _TooLarge
        if isinstance(node, list | tuple):
            return [self.resolved(item, opened) for item in node]
        if not isinstance(node, Mapping):
            return node
        link = node.get("$ref")
        if isinstance(link, str):
            target = self._target(link)
            if target is not None and link not in opened:
                beside = {key: value for key, value in node.items() if key != "$ref"}
                return self.resolved({**target, **beside}, (*opened, link))
            self.left = True
        return {key: value if key in _DATA else self.resolved(value, opened) for key, value in node.items()}

    def _target(self, link: str) -> Schema | None:
        if not link.startswith("#/"):
            return None
        found: Any = self._root
        for step in link.removeprefix("#/").split("/"):
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else None


def without_links(schema: Schema) -> Schema:
    """The schema with its definitions in the places of the links to them; itself where there are none, or too many."""
    if not any(key in schema for key in _DEFINITIONS):
        return schema
    resolver = _Resolver(schema)
    try:
        told: dict[str, Any] = resolver.resolved({key: value for key, value in schema.items() if key not in _DEFINITIONS})
    except _TooLarge:
        return schema
    if resolver.left:
        told.update((key, schema[key]) for key in _DEFINITIONS if key in schema)
    return told
