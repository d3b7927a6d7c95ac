"""A call in Python's syntax: keyword arguments in the order of the schema, values as Python or JSON writes them."""

import json
from collections.abc import Mapping
from typing import Any

from ..message import Tool
from ..schema import types_of
from .schemas import Members, members_of, part_schema, plain
from .shapes import EMPTY, Const, Json, Key, Maybe, Pattern, Several, Shape, all_of, one_of

SINGLE_QUOTED = r"'([^'\\\x00-\x1f]|\\[\\'nrt])*'"
_DEPTH = 8


def python_call(tool: Tool) -> Shape:
    """`name(key=value, ...)`."""
    values = _Values(tool.parameters)
    return all_of(Const(f"{tool.name}("), one_of(*(values.members(members) for members in members_of(tool))), Const(")"))


def listed(members: list[tuple[Shape, bool]], *, separator: str = ", ") -> Shape:
    """Members in order with a separator between them; those that are not required may be missing."""
    ways: list[Shape] = []
    for at, (member, needed) in enumerate(members):
        led = ((all_of(Const(separator), later), must) for later, must in members[at + 1 :])
        ways.append(all_of(member, *(later if must else Maybe(later) for later, must in led)))
        if needed:
            return one_of(*ways)
    return Maybe(one_of(*ways)) if ways else EMPTY


class _Values:
    """Values of one tool's arguments."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def members(self, members: Members) -> Shape:
        """The arguments of one alternative."""
        if members.others is not None and not members.properties:
            return Several(all_of(Key(), Const("="), self.shape(members.others)), ", ", least=0)
        return listed(
            [
                (all_of(Const(f"{key}="), self.shape(schema)), key in members.required)
                for key, schema in members.properties.items()
            ]
        )

    def shape(self, schema: Any, depth: int = _DEPTH) -> Shape:
        """A value of this schema."""
        schema = plain(schema, self._root)
        if not isinstance(schema, Mapping) or not depth:
            return Json(part_schema(schema, self._root))
        if "const" in schema or isinstance(schema.get("enum"), list):
            allowed = [schema["const"]] if "const" in schema else schema["enum"]
            return one_of(*(Const(text) for value in allowed for text in _literals(value)))
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                return one_of(*(self.shape(branch, depth - 1) for branch in schema[keyword]))
        types = sorted(types_of(schema, self._root))
        if not types:
            return one_of(Json(part_schema(schema, self._root)), *_WORDS)
        return one_of(*(self._typed({**schema, "type": name}, name, depth) for name in types))

    def _typed(self, schema: Mapping[str, Any], name: str, depth: int) -> Shape:
        match name:
            case "boolean":
                return one_of(*_WORDS[:2], Const("true"), Const("false"))
            case "null":
                return one_of(_WORDS[2], Const("null"))
            case "string" if not set(schema) & {"pattern", "format", "minLength", "maxLength"}:
                return one_of(Json({"type": "string"}), Pattern(SINGLE_QUOTED))
            case "array" if "items" in schema and not set(schema) & {"minItems", "maxItems", "prefixItems"}:
                items = Several(self.shape(schema["items"], depth - 1), ", ", least=0)
                return all_of(Const("["), items, Const("]"))
            case "object" if isinstance(schema.get("properties"), Mapping) and schema["properties"]:
                return self._object(schema, depth)
            case _:
                return Json(part_schema(schema, self._root))

    def _object(self, schema: Mapping[str, Any], depth: int) -> Shape:
        required = schema.get("required") or ()
        members = [
            (all_of(Const(f"{json.dumps(key, ensure_ascii=False)}: "), self.shape(value, depth - 1)), key in required)
            for key, value in schema["properties"].items()
        ]
        return all_of(Const("{"), listed(members), Const("}"))


_WORDS = (Const("True"), Const("False"), Const("None"))


def _literals(value: Any) -> tuple[str, ...]:
    """How a value may be written: as Python does, and as JSON does."""
    written = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return (written, repr(value)) if value.isprintable() and "'" not in value and "\\" not in value else (written,)
    return tuple(dict.fromkeys((repr(value), written)))
