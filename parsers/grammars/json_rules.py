"""JSON Schemas in EBNF: the values that satisfy one, written as `json.dumps` writes them, properties in the order of the schema.

What the rules do not hold is kept by its place (`left`), for the check behind decoding. An object that declares properties holds
no others unless its schema says so: that is what those who write schemas for models mean.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from ..errors import ConstraintError
from ..schema import resolve
from .ebnf_text import NOTHING, choice, quoted, repeated, row
from .expressions import expression
from .finite import finite
from .json_objects import Objects
from .json_strings import Strings
from .merging import DEFINITIONS, KEYWORDS, NOTES, Merger, Never, Path, dumped, kind_of, listed, types_of
from .numbers import NUMBER, NoNumber, number_pattern
from .regexes import exact
from .residues import multiple_of
from .rules import Rules

MOST_ITEMS = 500
"""The largest count of items that is held: engines build a state for each."""
MOST_UNIQUE = 5
"""From so many values on, lists that hold each at most once are left to the check."""
UNREAD = frozenset(
    "not if then else dependentRequired dependentSchemas dependencies contains minContains maxContains unevaluatedItems "
    "$dynamicRef $recursiveRef".split()
)
NOTHING_IF_FALSE = frozenset({"not", "if"})
SEPARATOR, COLON = ", ", ": "


class JsonRules:
    """Writes the rules of one schema and of all that it means by reference."""

    def __init__(self, rules: Rules, root: Mapping[str, Any], excludes: tuple[str, ...] = ()) -> None:
        self.rules = rules
        self.strings = Strings(rules, excludes)
        self._root = root
        self._excludes = excludes
        self._merger = Merger(root)
        self._known: dict[str, tuple[str, list[Path]]] = {}
        """Rules of schemas, and what they leave to the check."""
        self._references: dict[str, str] = {}
        self._objects = Objects(self)

    @property
    def left(self) -> list[Path]:
        """The places of what the rules do not hold."""
        return self._merger.left

    def whole(self) -> str:
        """The rule of the schema itself; ConstraintError where nothing satisfies it."""
        try:
            return self.value(self._root, ())
        except Never as never:
            path = tuple(str(step) if not isinstance(step, int) else step for step in never.path)
            raise ConstraintError(f"no value satisfies it: {never}", path=path) from None

    def value(self, node: Any, path: Path) -> str:
        """The name of the rule for values of a schema."""
        if node is False:
            raise Never("the schema is false", path)
        if not isinstance(node, Mapping) or not set(node) - NOTES - DEFINITIONS:
            return self.anything()
        if set(node) - NOTES - DEFINITIONS == {"$ref"}:
            return self._reference(str(node["$ref"]), path)
        text = json.dumps(node)
        if text not in self._known:
            before = len(self.left)
            name = self.rules.named("value", self._body(self._merger.merged(node, path), path))
            self._known[text] = name, [place[len(path) :] for place in self.left[before:]]
        else:
            self.left.extend((*path, *place) for place in self._known[text][1])
        return self._known[text][0]

    def _reference(self, pointer: str, path: Path) -> str:
        if pointer not in self._references:
            target = resolve({"$ref": pointer}, self._root)
            if not finite({"$ref": pointer}, self._root):
                raise Never(f"{pointer} must hold itself, without end", path)
            self._references[pointer] = self.rules.reserved("ref")
            self.rules.define(self._references[pointer], self.value(target, path))
        return self._references[pointer]

    def anything(self) -> str:
        """Any value."""
        name = self._references.get("")
        if name is None:
            name = self._references[""] = self.rules.reserved("any")
            string = self.strings.any()
            array = self._bracketed("[", row((name, f"({quoted(SEPARATOR)} {name})*")), "]")
            member = row((string, quoted(COLON), name))
            members = self._bracketed("{", row((member, f"({quoted(SEPARATOR)} {member})*")), "}")
            simple = ('"true"', '"false"', '"null"', self.number(NUMBER))
            self.rules.define(name, " | ".join((string, *simple, array, members)))
        return name

    def _bracketed(self, opener: str, inside: str, closer: str) -> str:
        return self.rules.named("any", f"{quoted(opener)} ({inside})? {quoted(closer)}")

    def number(self, pattern: str) -> str:
        """A number of an expression."""
        return self.rules.named("number", expression(self.rules, exact(pattern)))

    def leave(self, path: Path, keywords: Iterable[str]) -> None:
        """Note what is left to the check."""
        self.left.extend((*path, keyword) for keyword in keywords)

    # ---- one schema
    def _body(self, node: Mapping[str, Any], path: Path) -> str:
        self.leave(path, (key for key in node if key in UNREAD and (node[key] is not False or key not in NOTHING_IF_FALSE)))
        if set(node) - NOTES - DEFINITIONS == {"$ref"}:
            return self._reference(str(node["$ref"]), path)
        values = listed(node)
        if values is not None:
            return self._listed(node, values, path)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(node.get(keyword), list):
                return self._alternatives(node[keyword], keyword, path)
        return self._any_of((partial(self._typed, node, kind, path) for kind in types_of(node)), path)

    def _listed(self, node: Mapping[str, Any], values: list[Any], path: Path) -> str:
        self.leave(path, (key for keys in (*KEYWORDS.values(), ("unevaluatedProperties",)) for key in keys if key in node))
        texts = [dumped(value) for value in values]
        possible = [text for text in texts if not any(excluded in text for excluded in self._excludes)]
        if not possible:
            raise Never("no value is left in its list", path)
        return choice(map(quoted, possible))

    def _alternatives(self, branches: list[Any], keyword: str, path: Path) -> str:
        if keyword == "oneOf" and not exclusive(branches, self._root):
            self.left.append((*path, keyword))
        return self._any_of((partial(self.value, each, (*path, keyword, at)) for at, each in enumerate(branches)), path)

    def _any_of(self, ways: Iterable[Callable[[], str]], path: Path) -> str:
        """Those of the ways that some value satisfies."""
        found, reason = [], Never("it allows no type", path)
        for way in ways:
            try:
                found.append(way())
            except Never as never:
                reason = never
        if not found:
            raise reason
        return choice(found)

    def _typed(self, node: Mapping[str, Any], kind: str, path: Path) -> str:
        match kind:
            case "string":
                return self._string(node, path)
            case "number" | "integer":
                return self._numeric(node, kind, path)
            case "boolean":
                return '("true" | "false")'
            case "null":
                return '"null"'
            case "array":
                return self._array(node, path)
            case _:
                return self._objects.of(node, path)

    def _string(self, node: Mapping[str, Any], path: Path) -> str:
        try:
            found, left = self.strings.of(node)
        except Never as never:
            raise Never(str(never), path) from None
        self.leave(path, left)
        return found

    def _numeric(self, node: Mapping[str, Any], kind: str, path: Path) -> str:
        try:
            pattern, held = number_pattern(node, integer=kind == "integer")
        except NoNumber as problem:
            raise Never(str(problem), path) from None
        if held:
            return self.number(pattern)
        multiple = multiple_of(self.rules, node, integer=kind == "integer")
        if multiple is None:
            self.left.append((*path, "multipleOf"))
        return multiple or self.number(pattern)

    # ---- arrays
    def _array(self, node: Mapping[str, Any], path: Path) -> str:
        first, rest = _items(node)
        least, most = int(node.get("minItems") or 0), node.get("maxItems")
        most = int(most) if isinstance(most, int | float) else None
        if most is not None and least > most:
            raise Never(f"minItems {least} is greater than maxItems {most}", path)
        if node.get("uniqueItems") is True and (most is None or most > 1):
            values = listed(rest) if isinstance(rest, Mapping) and not first else None
            if values is not None and len(values) <= MOST_UNIQUE:
                return self._unique(list(dict.fromkeys(map(dumped, values))), least, most, path)
            self.left.append((*path, "uniqueItems"))
        if max(least, most or 0) > MOST_ITEMS:
            self.leave(path, (key for key in ("minItems", "maxItems") if (node.get(key) or 0) > MOST_ITEMS))
            least, most = min(least, MOST_ITEMS), None
        return self._listing(first, rest, (least, most), path)

    def _listing(self, first: list[Any], rest: Any, counts: tuple[int, int | None], path: Path) -> str:
        least, most = counts
        items = [self.value(each, (*path, "prefixItems", at)) for at, each in enumerate(first[:most])]
        more = None
        if rest is not False and (most is None or most > len(items)):
            try:
                more = self.value(rest, (*path, "items"))
            except Never:
                if least > len(items):
                    raise
        if more is None and least > len(items):
            raise Never(f"minItems is {least}, and no more than {len(items)} are allowed", path)
        tail = NOTHING if more is None else self._more(more, len(items), max(0, least - len(items)), most)
        separator = quoted(SEPARATOR)
        for at in range(len(items) - 1, -1, -1):
            inside = row((*([separator] if at else []), items[at], tail))
            tail = inside if at < least else f"({inside})?"
        return row((quoted("["), tail, quoted("]")))

    def _more(self, item: str, before: int, least: int, most: int | None) -> str:
        """Items behind those that have a schema of their own."""
        limit = None if most is None else most - before
        separated = f"{quoted(SEPARATOR)} {item}"
        if before:
            return repeated(separated, least, limit)
        inside = row((item, repeated(separated, max(0, least - 1), None if limit is None else limit - 1)))
        return inside if least else f"({inside})?"

    def _unique(self, values: list[str], least: int, most: int | None, path: Path) -> str:
        """Lists of few values, each at most once: a rule for each set of values that are left."""
        top = len(values) if most is None else min(most, len(values))
        if least > top:
            raise Never(f"it holds no more than {top} different items", path)

        def behind(used: frozenset[str]) -> str:
            ways = [NOTHING] if len(used) >= least else []
            separator = [quoted(SEPARATOR)] if used else []
            if len(used) < top:
                ways += [row((*separator, quoted(each), behind(used | {each}))) for each in values if each not in used]
            return self.rules.named("unique", " | ".join(ways))

        return row((quoted("["), behind(frozenset()), quoted("]")))


def _items(node: Mapping[str, Any]) -> tuple[list[Any], Any]:
    """The schemas of the first items, and that of the others."""
    first, rest = node.get("prefixItems"), node.get("items", True)
    if isinstance(rest, list):  # how drafts up to 7 say prefixItems
        return rest, node.get("additionalItems", True)
    return first if isinstance(first, list) else [], rest


def exclusive(branches: list[Any], root: Mapping[str, Any]) -> bool:
    """Whether at most one branch can hold, told by types, or by a required property of which each lists other values."""
    nodes = [resolve(branch, root) for branch in branches]
    if not all(isinstance(node, Mapping) for node in nodes):
        return len(branches) < 2
    values = [listed(node) for node in nodes]
    if _tells_apart([None if each is None else set(map(dumped, each)) for each in values]):
        return True
    kinds = [_kinds(node) for node in nodes]
    if all(kinds) and sum(map(len, kinds)) == len(set().union(*kinds)):
        return True
    keys = [key for key in nodes[0].get("required") or () if isinstance(key, str)] if nodes else []
    return any(_tells_apart([_values_of(node, key) for node in nodes]) for key in keys)


def _kinds(node: Mapping[str, Any]) -> set[str]:
    values = listed(node)
    if values is not None:
        return set().union(*({min(kind_of(value) - {"integer"})} for value in values))
    if "type" not in node:
        return set()
    return {"number" if kind == "integer" else kind for kind in types_of(node)}


def _values_of(node: Mapping[str, Any], key: str) -> set[str] | None:
    properties = node.get("properties")
    if (
        key not in (node.get("required") or ())
        or not isinstance(properties, Mapping)
        or not isinstance(properties.get(key), Mapping)
    ):
        return None
    values = listed(properties[key])
    return None if values is None else {dumped(value) for value in values}


def _tells_apart(groups: list[set[str] | None]) -> bool:
    known = [group for group in groups if group is not None]
    return len(known) == len(groups) and sum(map(len, known)) == len(set().union(*known))
