"""Keywords of a schema that no constraint holds: they are checked once the value is written."""

from collections.abc import Mapping
from typing import Any

from gateway.chat.plan import Dialect
from parsers.grammars.schema_for_xgrammar import unenforced

from .strict_rules import nodes

UNREAD_BY_LLGUIDANCE = (
    "not if then else dependentRequired dependentSchemas dependencies contains minContains maxContains uniqueItems "
    "minProperties maxProperties propertyNames unevaluatedProperties unevaluatedItems"
).split()
MOST_NAMED = 4


def places(schema: Mapping[str, Any], dialect: Dialect) -> list[str]:
    """Where such keywords stand, as `properties.tags.uniqueItems`."""
    if dialect == "structural_tag":
        return unenforced(schema)
    found = [(path, node) for path, node in nodes(schema) if isinstance(node, Mapping)]
    return [".".join((*path, key)) for path, node in found for key in UNREAD_BY_LLGUIDANCE if node.get(key) not in (None, False)]


def warning(what: str, found: list[str]) -> str:
    """What a client is told of them."""
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"{what}: {', '.join(found[:MOST_NAMED])}{more} only checked after decoding"
