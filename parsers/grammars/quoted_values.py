"""Arguments with bare keys and strings between quote tokens: members in the order of the schema, without white space."""

import json
from collections.abc import Mapping
from typing import Any

from ..description import QuotedArguments
from ..message import Tool
from ..schema import types_of
from .python_values import listed
from .schemas import Members, members_of, part_schema, plain
from .shapes import Const, Json, Key, Several, Shape, Text, all_of, one_of
from .tagged_values import STRING_RULES

_DEPTH = 8
_FREE_DEPTH = 2
"""How deep a value may be that no schema describes."""


def quoted_arguments(leaf: QuotedArguments, tool: Tool) -> Shape:
    """`{key:value,...}`."""
    values = _Values(leaf.quote, tool.parameters)
    return one_of(*(values.members(members) for members in members_of(tool)))


class _Values:
    """Values of one tool's arguments."""

    def __init__(self, quote: str, root: Mapping[str, Any]) -> None:
        self._quote = quote
        self._root = root

    def members(self, members: Members) -> Shape:
        """The arguments of one alternative."""
        if members.others is not None and not members.properties:
            return self.mapping(self.shape(members.others))
        found = [
            (all_of(Const(f"{key}:"), self.shape(each)), key in members.required) for key, each in members.properties.items()
        ]
        return all_of(Const("{"), listed(found, separator=","), Const("}"))

    def shape(self, schema: Any, depth: int = _DEPTH) -> Shape:
        """A value of this schema."""
        schema = plain(schema, self._root)
        if not isinstance(schema, Mapping) or not depth:
            return self.anything()
        if "const" in schema or isinstance(schema.get("enum"), list):
            allowed = [schema["const"]] if "const" in schema else schema["enum"]
            return one_of(*(Const(self._literal(value)) for value in allowed))
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                return one_of(*(self.shape(branch, depth - 1) for branch in schema[keyword]))
        types = sorted(types_of(schema, self._root))
        return one_of(*(self._typed({**schema, "type": name}, name, depth) for name in types)) if types else self.anything()

    def _typed(self, schema: Mapping[str, Any], name: str, depth: int) -> Shape:
        match name:
            case "string":
                rules = {key: schema[key] for key in STRING_RULES if key in schema}
                return self._string({"type": "string", **rules} if rules else None)
            case "array":
                item = self.shape(schema["items"], depth - 1) if "items" in schema else self.anything()
                return self._array(item, least=1 if schema.get("minItems") else 0)
            case "object":
                return self._object(schema, depth)
            case _:
                return Json(part_schema(schema, self._root))

    def _string(self, rules: Mapping[str, Any] | None = None) -> Shape:
        return all_of(Const(self._quote), Text((self._quote,), rules), Const(self._quote))

    def _array(self, item: Shape, *, least: int = 0) -> Shape:
        return all_of(Const("["), Several(item, ",", least=least), Const("]"))

    def mapping(self, value: Shape) -> Shape:
        """An object with any keys."""
        return all_of(Const("{"), Several(all_of(Key(), Const(":"), value), ",", least=0), Const("}"))

    def _object(self, schema: Mapping[str, Any], depth: int) -> Shape:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            others = schema.get("additionalProperties")
            return self.mapping(self.shape(others, depth - 1) if isinstance(others, Mapping) else self.anything())
        required = schema.get("required") or ()
        members = [(all_of(Const(f"{key}:"), self.shape(value, depth - 1)), key in required) for key, value in properties.items()]
        return all_of(Const("{"), listed(members, separator=","), Const("}"))

    def anything(self, depth: int = _FREE_DEPTH) -> Shape:
        """Any value, not too deep."""
        simple = [self._string(), Json({"type": ["number", "boolean", "null"]})]
        if not depth:
            return one_of(*simple)
        inner = self.anything(depth - 1)
        return one_of(*simple, self._array(inner), self.mapping(inner))

    def _literal(self, value: Any) -> str:
        match value:
            case str():
                return self._quote + value + self._quote
            case list():
                return f"[{','.join(map(self._literal, value))}]"
            case dict():
                return "{" + ",".join(f"{key}:{self._literal(item)}" for key, item in value.items()) + "}"
            case _:
                return json.dumps(value)
