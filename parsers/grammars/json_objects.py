"""JSON objects in EBNF: declared properties in their order, then others where there may be some."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .avoiding import Alphabet, unlike
from .ebnf_text import NOTHING, quoted, repeated, row
from .expressions import expression
from .merging import NOTES, Never, Path, dumped
from .regexes import Regex, UnreadableRegex, in_json, whole

if TYPE_CHECKING:
    from .json_rules import JsonRules

Member = tuple[str, bool]
"""The rule of a member, and whether it must be there."""


class Objects:
    """Writes objects with the values of a schema's rules."""

    def __init__(self, json_rules: "JsonRules") -> None:
        self._json = json_rules
        self._comma = quoted(", ")

    def of(self, node: Mapping[str, Any], path: Path) -> str:
        """An object of a schema."""
        members = self._members(node, path)
        declared = node.get("properties") if isinstance(node.get("properties"), Mapping) else {}
        other = self._other(node, dict(declared or {}), path)
        inside = self._inside(members, other, self._counts(node, members, other, path))
        return row((quoted("{"), inside, quoted("}")))

    # ---- members
    def _members(self, node: Mapping[str, Any], path: Path) -> list[Member]:
        """The declared properties, and those that are required without being declared."""
        properties = dict(node["properties"]) if isinstance(node.get("properties"), Mapping) else {}
        required = [key for key in node.get("required") or () if isinstance(key, str)]
        undeclared = node.get("additionalProperties", True)
        for key in required:
            properties.setdefault(key, self._of_patterns(node, key, undeclared))
        found: list[Member] = []
        for key, schema in properties.items():
            try:
                found.append((self._member(key, schema, (*path, "properties", key)), key in required))
            except Never as never:
                if key in required:
                    raise Never(f"{key!r} is required, and {never}", path) from None
        return found

    def _of_patterns(self, node: Mapping[str, Any], key: str, undeclared: Any) -> Any:
        """What a property that is only required must be: the first pattern that fits it says."""
        patterns = node.get("patternProperties")
        for pattern, schema in patterns.items() if isinstance(patterns, Mapping) else ():
            try:
                if re.search(pattern, key):
                    return schema
            except re.error:
                continue
        return undeclared

    def _member(self, key: str, schema: Any, path: Path) -> str:
        value = self._json.value(schema, path)
        return self._json.rules.named("member", row((quoted(f"{dumped(key)}: "), value)))

    # ---- other properties
    def _other(self, node: Mapping[str, Any], declared: dict[str, Any], path: Path) -> str | None:
        """The rule for one property that is not declared; None when there may be none."""
        patterns = node.get("patternProperties")
        if isinstance(patterns, Mapping) and patterns:
            return self._of_pattern(node, patterns, declared, path)
        others = node.get("additionalProperties", node.get("unevaluatedProperties", not declared))
        if "additionalProperties" in node and node.get("unevaluatedProperties", True) is not True:
            self._json.leave(path, ["unevaluatedProperties"])
        names = node.get("propertyNames")
        if names is not None and names is not True and (declared or node.get("required")):
            self._json.leave(path, ["propertyNames"])
        if others is False or names is False:
            return None
        try:
            value = self._json.value(others, (*path, "additionalProperties"))
            taken = [*declared, *(key for key in node.get("required") or () if isinstance(key, str))]
            key = self._key(names, list(dict.fromkeys(taken)), path)
        except Never:
            return None
        return self._json.rules.named("other", row((key, quoted(": "), value)))

    def _key(self, names: Any, taken: list[str], path: Path) -> str:
        """A key that is none of those that are taken, of the schema that keys are held to."""
        if isinstance(names, Mapping) and set(names) - NOTES:
            if taken:
                return self._free_key(taken)
            found, left = self._json.strings.of(names)
            unread = set(names) - NOTES - {"type", "pattern", "format", "minLength", "maxLength"}
            if unread == {"enum"} or unread == {"const"}:
                return self._json.value(names, (*path, "propertyNames"))
            self._json.leave((*path, "propertyNames"), [*left, *sorted(unread)])
            return found
        return self._free_key(taken)

    def _free_key(self, taken: list[str]) -> str:
        """Any key without escapes but these."""
        if not taken:
            return self._json.strings.key()
        plain = self._json.strings.plain
        return row((quoted('"'), unlike(self._json.rules, taken, Alphabet(plain, plain, empty=True), end=quoted('"'))))

    def _of_pattern(
        self, node: Mapping[str, Any], patterns: Mapping[str, Any], declared: dict[str, Any], path: Path
    ) -> str | None:
        """Properties whose names have a pattern; no others are written beside them."""
        ways: list[str] = []
        place = (*path, "patternProperties")
        for pattern, schema in patterns.items():
            try:
                key = in_json(self._json.strings.narrowed(whole(pattern)))
                value = self._json.value(schema, (*place, pattern))
            except UnreadableRegex:
                self._json.left.append((*place, pattern))
                continue
            except Never:
                continue
            if len(patterns) > 1 or any(_may_match(pattern, name) for name in declared):
                self._json.left.append((*place, pattern))
            ways.append(self._pattern_member(key, value))
        for keyword in ("propertyNames", "unevaluatedProperties"):
            if node.get(keyword, True) is not True:
                self._json.leave(path, [keyword])
        return self._json.rules.named("other", " | ".join(ways)) if ways else None

    def _pattern_member(self, key: Regex, value: str) -> str:
        return row((quoted('"'), expression(self._json.rules, key), quoted('": '), value))

    # ---- how many
    def _counts(self, node: Mapping[str, Any], members: list[Member], other: str | None, path: Path) -> tuple[int, int | None]:
        """How many other properties there may be. With optional ones beside them the counts are left to the check."""
        least, most = (node.get(key) for key in ("minProperties", "maxProperties"))
        least, most = int(least or 0), int(most) if isinstance(most, int | float) else None
        must = sum(needed for _, needed in members)
        if len(members) != must:
            self._json.leave(
                path,
                [
                    *(["minProperties"] if least > must else []),
                    *(["maxProperties"] if most is not None and (most < len(members) or other is not None) else []),
                ],
            )
            return 0, None
        if (most is not None and must > most) or (least > must and other is None):
            raise Never("it must have more properties than it may", path)
        return max(0, least - must), None if most is None else most - must

    def _inside(self, members: list[Member], other: str | None, counts: tuple[int, int | None]) -> str:
        """All members with commas between them. What is optional before the first that must be there brings its own comma."""
        at = next((place for place, (_, needed) in enumerate(members) if needed), None)
        if at is not None:
            before = [f"({row((rule, self._comma))})?" for rule, _ in members[:at]]
            return row((*before, members[at][0], *self._tail(members[at + 1 :], other, counts)))
        return self._all_optional(members, other, counts)

    def _tail(self, members: list[Member], other: str | None, counts: tuple[int, int | None]) -> list[str]:
        found = [row((self._comma, rule)) if needed else f"({row((self._comma, rule))})?" for rule, needed in members]
        if other is not None:
            found.append(repeated(f"{self._comma} {other}", *counts))
        return found

    def _all_optional(self, members: list[Member], other: str | None, counts: tuple[int, int | None]) -> str:
        least, most = counts
        start = NOTHING
        if other is not None and most != 0:
            more = repeated(f"{self._comma} {other}", max(0, least - 1), None if most is None else most - 1)
            start = row((other, more)) if least else f"({row((other, more))})?"
        behind = row(self._tail([], other, counts))
        for rule, _ in reversed(members):
            tail = self._json.rules.named("tail", behind) if behind != NOTHING else NOTHING
            start = self._json.rules.named("first", f"{row((rule, tail))} | {start}")
            behind = row((f"({row((self._comma, rule))})?", tail))
        return start


def _may_match(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return True
