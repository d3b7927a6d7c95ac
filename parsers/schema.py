"""The few questions that parsing asks of a JSON Schema: which types may a property have, and is it only a string."""

from collections.abc import Iterator, Mapping
from typing import Any

JSON_TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_DEPTH = 16
"""How many references and combinations are followed; deeper ones say nothing."""


def resolve(schema: Any, root: Mapping[str, Any]) -> Any:
    """The schema that a local `$ref` points to, or the schema itself; `{}` when the reference leads nowhere."""
    for _ in range(_DEPTH):
        if not isinstance(schema, Mapping) or not isinstance(reference := schema.get("$ref"), str):
            return schema
        if not reference.startswith("#"):
            return {}
        schema = _pointer(root, reference[1:])
    return {}


def _pointer(root: Mapping[str, Any], pointer: str) -> Any:
    node: Any = root
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            return {}
    return node


def types_of(schema: Any, root: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types that a value may have; empty when the schema does not say."""
    return frozenset(_types(schema, root, _DEPTH))


def _types(schema: Any, root: Mapping[str, Any], depth: int) -> Iterator[str]:
    schema = resolve(schema, root)
    if depth == 0 or not isinstance(schema, Mapping):
        return
    declared = schema.get("type")
    if isinstance(declared, str | list):
        names = [declared] if isinstance(declared, str) else declared
        yield from (name for name in names if name in JSON_TYPES)
        if schema.get("nullable") is True:
            yield "null"
        return
    if "const" in schema or isinstance(schema.get("enum"), list):
        yield from (_type_of_value(value) for value in schema.get("enum", [schema.get("const")]))
        return
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            for branch in branches:
                yield from _types(branch, root, depth - 1)
    if "properties" in schema:
        yield "object"
    elif "items" in schema:
        yield "array"


def _type_of_value(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def property_of(schema: Any, root: Mapping[str, Any], key: str) -> Any:
    """The schema of one property, found through references and combinations; None when it is not declared."""
    return _property(schema, root, key, _DEPTH)


def _property(schema: Any, root: Mapping[str, Any], key: str, depth: int) -> Any:
    schema = resolve(schema, root)
    if depth == 0 or not isinstance(schema, Mapping):
        return None
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        return properties[key]
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        for branch in branches if isinstance(branches, list) else ():
            found = _property(branch, root, key, depth - 1)
            if found is not None:
                return found
    return None


def member_of(schema: Any, root: Mapping[str, Any], key: str) -> Any:
    """The schema of one property: its own, else that of all which are not declared; None when there is neither."""
    found = property_of(schema, root, key)
    return _others(schema, root, _DEPTH) if found is None else found


def _others(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    schema = resolve(schema, root)
    if depth == 0 or not isinstance(schema, Mapping):
        return None
    if isinstance(schema.get("additionalProperties"), Mapping):
        return schema["additionalProperties"]
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        for branch in branches if isinstance(branches, list) else ():
            found = _others(branch, root, depth - 1)
            if found is not None:
                return found
    return None


def items_of(schema: Any, root: Mapping[str, Any]) -> Any:
    """The schema of an array's items, found through references and combinations; `{}` when it is not declared."""
    found = _items(schema, root, _DEPTH)
    return {} if found is None else found


def _items(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    schema = resolve(schema, root)
    if depth == 0 or not isinstance(schema, Mapping):
        return None
    if isinstance(schema.get("items"), Mapping):
        return schema["items"]
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        for branch in branches if isinstance(branches, list) else ():
            found = _items(branch, root, depth - 1)
            if found is not None:
                return found
    return None
