"""Arguments as nested elements, in the order of the schema. Text has no quotes; the schema says what it means."""

import json
from collections.abc import Mapping
from typing import Any

from ..description import ElementArguments
from ..message import Tool
from ..schema import types_of
from .schemas import members_of, part_schema, plain
from .shapes import EMPTY, Const, Json, Maybe, Several, Shape, Text, all_of, one_of
from .tagged_values import STRING_RULES

_DEPTH = 8
_SCALARS = frozenset({"integer", "number", "boolean", "null"})


def element_arguments(leaf: ElementArguments, tool: Tool) -> Shape:
    """All arguments of a call. Properties that the schema does not name are left out."""
    writer = _Writer(leaf.prefix, tool.parameters)
    return one_of(*(writer.members(each.properties, each.required, _DEPTH) for each in members_of(tool)))


class _Writer:
    """Writes the elements of one tool."""

    def __init__(self, prefix: str, root: Mapping[str, Any]) -> None:
        self._prefix = prefix
        self._root = root

    def members(self, properties: Mapping[str, Any], required: frozenset[str], depth: int) -> Shape:
        """One element for each property."""
        elements = [(self._element(key, schema, depth), key in required) for key, schema in properties.items()]
        return all_of(*(element if needed else Maybe(element) for element, needed in elements))

    def _element(self, name: str, schema: Any, depth: int) -> Shape:
        return all_of(Const(f"{self._prefix}<{name}>"), self._value(schema, depth - 1), Const(f"{self._prefix}</{name}>"))

    def _value(self, schema: Any, depth: int) -> Shape:
        schema = plain(schema, self._root)
        if not isinstance(schema, Mapping) or not depth:
            return Text((self._prefix,))
        if "const" in schema or isinstance(schema.get("enum"), list):
            allowed = [schema["const"]] if "const" in schema else schema["enum"]
            return one_of(*(Const(each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)) for each in allowed))
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list) and schema[keyword]:
                return self._widest([self._value(branch, depth) for branch in schema[keyword]])
        types = sorted(types_of(schema, self._root)) or ["string"]
        return self._widest([self._typed({**schema, "type": name}, name, depth) for name in types])

    def _widest(self, ways: list[Shape]) -> Shape:
        anything = Text((self._prefix,))
        return anything if anything in ways else one_of(*ways)

    def _typed(self, schema: Mapping[str, Any], name: str, depth: int) -> Shape:
        if name in _SCALARS:
            return Json(part_schema(schema, self._root))
        if name == "array":
            items = schema.get("items")
            return Several(self._element("item", items, depth), least=0)
        if name == "object":
            properties = schema.get("properties")
            required = frozenset(schema.get("required") or ())
            return self.members(properties, required, depth) if isinstance(properties, Mapping) else EMPTY
        rules = {key: schema[key] for key in STRING_RULES if key in schema}
        return Text((self._prefix,), {"type": "string", **rules} if rules else None)
