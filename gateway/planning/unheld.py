"""Keywords of a schema that no constraint holds: they are checked once the value is written."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.chat.plan import Dialect
from parsers.grammars import unenforced
from parsers.grammars.lark_schema import is_countable

from .strict_repair import exclusive
from .strict_rules import FORMATS, nodes

UNREAD_BY_LLGUIDANCE = (
    "not if then else dependentRequired dependentSchemas dependencies contains minContains maxContains uniqueItems "
    "minProperties maxProperties propertyNames unevaluatedProperties unevaluatedItems"
).split()
MOST_NAMED = 4


def places(schema: Mapping[str, Any], dialect: Dialect) -> list[str]:
    """Where such keywords stand, as `properties.tags.uniqueItems`."""
    if dialect == "structural_tag":
        return unenforced(schema)
    return [".".join((*path, keyword)) for path, node in nodes(schema) if isinstance(node, Mapping) for keyword in _unread(node)]


def _unread(node: Mapping[str, Any]) -> Iterator[str]:
    """The keywords that llguidance does not read, or reads as less than they say."""
    yield from (keyword for keyword in UNREAD_BY_LLGUIDANCE if node.get(keyword) not in (None, False))
    yield from (keyword for keyword, value in node.items() if not is_countable(keyword, value))
    if "format" in node and node["format"] not in FORMATS | {"uri"}:
        yield "format"
    if "oneOf" in node and not (isinstance(node["oneOf"], list) and exclusive(node["oneOf"])):
        yield "oneOf"


def warning(what: str, found: list[str]) -> str:
    """What a client is told of them."""
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"{what}: {', '.join(found[:MOST_NAMED])}{more} only checked after decoding"
