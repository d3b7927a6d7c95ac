"""Keywords of a schema that no constraint holds: they are checked once the value is written."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from gateway.chat.json_text import canonical
from gateway.chat.plan import Dialect
from parsers import ConstraintError, Format
from parsers.description import ElementArguments, PythonCall, QuotedArguments, TaggedArguments
from parsers.grammars import unenforced
from parsers.grammars.lark_schema import is_held
from parsers.grammars.tree import walk

from .strict_repair import exclusive
from .strict_rules import nodes

UNREAD_BY_LLGUIDANCE = (
    "not if then else dependentRequired dependentSchemas dependencies contains minContains maxContains uniqueItems "
    "minProperties maxProperties propertyNames unevaluatedProperties unevaluatedItems"
).split()
NOTHING_IF_FALSE = frozenset({"not", "if", "uniqueItems"})
UNREAD_OUTSIDE_OF_JSON = frozenset("minProperties maxProperties patternProperties propertyNames".split())
"""What is not said of arguments that are written one by one."""
UNREAD_IN_ELEMENTS = UNREAD_OUTSIDE_OF_JSON | frozenset(
    "minItems maxItems uniqueItems prefixItems additionalProperties unevaluatedProperties".split()
)
"""What is not said of values that are no JSON at any depth."""
MOST_NAMED = 4


def places(schema: Mapping[str, Any], dialect: Dialect, fmt: Format) -> list[str]:
    """Where such keywords stand, as `properties.tags.uniqueItems`."""
    return list(dict.fromkeys((*answer_places(schema, dialect), *_unread_by_format(schema, fmt))))


def answer_places(schema: Mapping[str, Any], dialect: Dialect) -> list[str]:
    """The same for an answer, which is JSON whatever the format."""
    return list(_in_json(canonical(schema), dialect))


@lru_cache(maxsize=2048)
def _in_json(text: str, dialect: Dialect) -> tuple[str, ...]:
    """Agents send the same schemas with every request."""
    schema = json.loads(text)
    if dialect == "lark":
        return tuple(_unread_by_llguidance(schema))
    try:
        return tuple(unenforced(schema))
    except ConstraintError:  # then there is no constraint
        return ()


def _unread_by_llguidance(schema: Mapping[str, Any]) -> list[str]:
    return [".".join((*path, keyword)) for path, node in nodes(schema) if isinstance(node, Mapping) for keyword in _unread(node)]


def _unread(node: Mapping[str, Any]) -> Iterator[str]:
    """The keywords that llguidance does not read, or reads as less than they say."""
    yield from (key for key in UNREAD_BY_LLGUIDANCE if key in node and not _says_nothing(key, node[key]))
    yield from (keyword for keyword, value in node.items() if not is_held(keyword, value))
    if "format" in node and "pattern" in node and node.get("type") != "string":
        yield "format"
    if "oneOf" in node and not (isinstance(node["oneOf"], list) and exclusive(node["oneOf"])):
        yield "oneOf"


def _says_nothing(key: str, value: Any) -> bool:
    """Whether a keyword of this value forbids nothing."""
    return value is None or (value is False and key in NOTHING_IF_FALSE)


def _unread_by_format(schema: Mapping[str, Any], fmt: Format) -> Iterator[str]:
    """What a family's own way to write arguments leaves out."""
    kinds = _kinds(fmt)
    if QuotedArguments in kinds or ElementArguments in kinds:
        for path, node in nodes(schema):
            if isinstance(node, Mapping):
                yield from (".".join((*path, key)) for key in node if key in UNREAD_IN_ELEMENTS and _says(node, key))
    elif kinds:
        yield from (key for key in schema if key in UNREAD_OUTSIDE_OF_JSON)


def _says(node: Mapping[str, Any], key: str) -> bool:
    """Whether a keyword is more than what is written anyway."""
    value = node[key]
    if key in ("additionalProperties", "unevaluatedProperties"):
        return value is not False and value is not True and bool(node.get("properties"))
    return value not in (None, False, 0)


@lru_cache(maxsize=256)
def _kinds(fmt: Format) -> frozenset[type]:
    """The ways other than JSON in which a family writes arguments."""
    known = (TaggedArguments, QuotedArguments, ElementArguments, PythonCall)
    return frozenset(type(node) for node in walk(fmt.turn) if isinstance(node, known))


def nested_keys(fmt: Format) -> bool:
    """Whether names inside of values are written as those of arguments are."""
    return bool(_kinds(fmt) & {QuotedArguments, ElementArguments})


def warning(what: str, found: list[str]) -> str:
    """What a client is told of them."""
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"{what}: {', '.join(found[:MOST_NAMED])}{more} only checked after decoding"
