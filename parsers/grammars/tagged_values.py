"""Arguments of untyped formats: each property between its own tags, in the order of the schema."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..description import TaggedArguments
from ..message import Tool
from ..schema import types_of
from .schemas import Members, members_of, part_schema, plain
from .shapes import Const, Json, Key, Maybe, OneOf, Several, Shape, Text, all_of, one_of, shortest
from .tree import first_texts

STRING_RULES = ("pattern", "format", "minLength", "maxLength")
CDATA, SECTION_END = "<![CDATA[", "]]>"
UNUSUAL = re.compile(r"[^\x00-\x7f]\w+")
TEXTLESS = frozenset({"integer", "number", "boolean", "null"})
CUT = 2
"""How much of an ender is kept out of the strings of a JSON value: each character more takes an engine 25 ms to prepare.
Nothing is lost, for JSON can write `<\\/` for `</`."""
_DEPTH = 8


def tagged_arguments(leaf: TaggedArguments, tool: Tool, behind: tuple[str, ...], breaks: tuple[str, ...]) -> Shape:
    """All arguments of a call. `behind` are the markers that may follow, `breaks` texts that end a call anywhere: no value may
    hold what the parser takes for its end."""
    writer = _Writer(leaf, tool.parameters, shortest((*_enders(leaf, behind), *breaks)))
    return one_of(*(writer.members(members) for members in members_of(tool)))


def _enders(leaf: TaggedArguments, behind: tuple[str, ...]) -> tuple[str, ...]:
    edge = "\n" if leaf.trim else ""
    markers = dict.fromkeys((*first_texts((leaf,))[0], *behind))
    keyed = filter(None, [leaf.keyed_close.partition("{key}")[0]])
    texts = (leaf.close.strip(), *keyed, *(edge + marker for marker in markers), *((CDATA,) if leaf.cdata else ()))
    return shortest(map(_core, texts))


def _core(marker: str) -> str:
    """The part of a marker that occurs in no ordinary text. Engines take seconds to prepare for two dozen long texts."""
    found = UNUSUAL.search(marker)
    return found[0] if found else marker


def _inside_json(enders: tuple[str, ...], schema: Any) -> tuple[str, ...]:
    """Those that a JSON value of this schema could hold: in its strings, where a line break is always escaped."""
    texts = (text[:CUT] for text in enders if "\n" not in text)
    return shortest(texts) if _holds_strings(schema) else ()


def _holds_strings(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return True
    kinds = schema.get("type")
    names = {kinds} if isinstance(kinds, str) else set(kinds) if isinstance(kinds, list) else {"string"}
    if names <= TEXTLESS:
        return False
    return names - TEXTLESS != {"array"} or "prefixItems" in schema or _holds_strings(schema.get("items"))


class _Writer:
    """Writes the arguments of one tool in one format."""

    def __init__(self, leaf: TaggedArguments, root: Mapping[str, Any], enders: tuple[str, ...]) -> None:
        self._leaf = leaf
        self._root = root
        self._enders = enders
        self._marked = leaf.marked
        self._says_type = "{type}" in leaf.header

    def members(self, members: Members) -> Shape:
        """The arguments of one alternative."""
        parts: list[Shape] = []
        for key, schema in members.properties.items():
            argument = self.argument(Const(self._spelled(key)), schema)
            parts.append(argument if key in members.required else Maybe(argument))
        if members.others is not None:
            parts.append(Several(self.argument(Key(tuple(members.properties)), members.others), least=0))
        return all_of(*parts)

    def _spelled(self, key: str) -> str:
        return key.replace("&", "&amp;").replace('"', "&quot;") if self._leaf.escaped else key

    def argument(self, key: Shape, schema: Any) -> Shape:
        """One argument."""
        texts = list(self._texts(schema, _DEPTH))
        values = list(self._values(schema, _DEPTH))
        if not self._marked:
            anything = Text(self._enders)
            value = anything if anything in texts else one_of(*texts, *(value for _, value in values))
            sections = one_of(*map(_in_section, texts)) if self._leaf.cdata and texts else value
            return self._between(key, "", one_of(value, sections))
        marks: dict[str, list[Shape]] = {"string" if self._says_type else "true": texts}
        for kind, value in values:
            marks.setdefault(kind if self._says_type else "false", []).append(value)
        return one_of(*(self._between(key, mark, one_of(*shapes)) for mark, shapes in marks.items() if shapes))

    def _between(self, key: Shape, mark: str, value: Shape) -> Shape:
        edge = "\n" if self._leaf.trim else ""
        before, _, after = self._leaf.header.replace("{string}", mark).replace("{type}", mark).partition("{key}")
        behind = all_of(Const(after + edge), value, Const(edge + self._leaf.close + self._leaf.joint))
        return all_of(Const(before), key, OneOf((behind,)))  # a rule of its own, which properties of one schema share

    def _texts(self, schema: Any, depth: int) -> Iterator[Shape]:
        """The ways in which a value may be text."""
        schema = plain(schema, self._root)
        if not isinstance(schema, Mapping) or not depth:
            yield Text(self._enders)
            return
        if (listed := _listed(schema)) is not None:
            yield from (Const(value) for value in listed if isinstance(value, str) and self._may_hold(value))
        elif branches := _branches(schema):
            for branch in branches:
                yield from self._texts(branch, depth - 1)
        elif "string" in (types_of(schema, self._root) or {"string"}):
            rules = {key: schema[key] for key in STRING_RULES if key in schema}
            yield Text(self._enders, {"type": "string", **rules} if rules else None)

    def _may_hold(self, text: str) -> bool:
        return not any(ender in text for ender in self._enders)

    def _values(self, schema: Any, depth: int) -> Iterator[tuple[str, Shape]]:
        """The ways in which a value may be JSON that is no text, each with its type."""
        schema = plain(schema, self._root)
        if not isinstance(schema, Mapping) or not depth:
            return
        if (listed := _listed(schema)) is not None:
            yield from (
                (_type_name(value), Const(json.dumps(value, ensure_ascii=False)))
                for value in listed
                if not isinstance(value, str)
            )
        elif branches := _branches(schema):
            for branch in branches:
                yield from self._values(branch, depth - 1)
        else:
            known = types_of(schema, self._root)
            anything = ["array", "boolean", "null", "number", "object"] if self._marked else []
            others = sorted(known - {"string"}) if known else anything
            for kinds in [[kind] for kind in others] if self._says_type else [others] * bool(others):
                typed = {**schema, "type": kinds[0] if len(kinds) == 1 else kinds}
                name = "number" if kinds[0] == "integer" else kinds[0]
                part = part_schema(typed, self._root)
                yield name, Json(part, _inside_json(self._enders, part))


def _in_section(text: Shape) -> Shape:
    """A text in a section, where nothing but the end of one is kept out."""
    inside = Text((SECTION_END,), text.schema) if isinstance(text, Text) else text
    return all_of(Const(CDATA), inside, Const(SECTION_END))


def _type_name(value: Any) -> str:
    """The JSON type of a value, where all numbers are of one."""
    names = {bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _listed(schema: Mapping[str, Any]) -> list[Any] | None:
    """The values that a schema allows, if it lists them."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if isinstance(listed, list) else None


def _branches(schema: Mapping[str, Any]) -> list[Any]:
    """The alternatives of a schema."""
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            return list(schema[keyword])
    whole = schema.get("allOf")
    return list(whole) if isinstance(whole, list) and len(whole) == 1 else []
