"""Schemas at random, of the kinds that people write for tools, and texts that satisfy a constraint."""

from typing import Any

from hypothesis import strategies as st

NAMES = ["a", "city", "x_1", "größe", "日本", "with space", 'say "hi"', "back\\slash", "😀", "<b>", "a/b", "$ref"]
LISTED = [None, True, False, 0, 1, -3, 2.5, "a", "", "b c", 'q"', "é", [1, "x"], {"k": 1}]
PATTERNS = ["^[a-z]{2,4}$", "x", "^a", "b$", r"^\d{3}-\w+$", "^(ab|cd)*$", '^"q"$', "a|b", "^[^,]+$", r"^v\d+(\.\d+){1,2}$"]
FORMATS = ["date", "time", "date-time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname", "duration", "iban"]
BOUNDS = [-100, -1, 0, 0.5, 1, 7, 99.5, 1000]
PIECES = [
    '"',
    "a",
    "b",
    "x",
    "1",
    "0",
    "-",
    ".",
    "5",
    "e",
    "é",
    '\\"',
    "{",
    "}",
    "[",
    "]",
    ", ",
    ": ",
    "true",
    "null",
    "false",
    "@",
    ":",
]


def numbers() -> st.SearchStrategy[dict[str, Any]]:
    kind = st.sampled_from(["number", "integer"])
    low, high = st.sampled_from(BOUNDS), st.sampled_from(BOUNDS)
    rules = {
        "minimum": low,
        "maximum": high,
        "exclusiveMinimum": low,
        "exclusiveMaximum": high,
        "multipleOf": st.sampled_from([1, 5, 0.5, 7]),
    }
    return st.builds(lambda name, more: {"type": name, **more}, kind, st.fixed_dictionaries({}, optional=rules))


def strings() -> st.SearchStrategy[dict[str, Any]]:
    size = st.integers(0, 6)
    rules = {"minLength": size, "maxLength": size.map(lambda most: most + 4), "pattern": st.sampled_from(PATTERNS)}
    said = st.fixed_dictionaries({}, optional=rules) | st.sampled_from(FORMATS).map(lambda form: {"format": form})
    return said.map(lambda more: {"type": "string", **more})


def simple() -> st.SearchStrategy[dict[str, Any]]:
    """Schemas without others inside."""
    listed = st.lists(st.sampled_from(LISTED), min_size=1, max_size=4).map(lambda values: {"enum": values})
    const = st.sampled_from(LISTED).map(lambda value: {"const": value})
    nullable = strings().map(lambda said: {**said, "type": ["string", "null"]})
    return st.one_of(
        strings(),
        numbers(),
        listed,
        const,
        nullable,
        st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"$ref": "#/$defs/node"}]),
    )


def compound(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas with others inside."""
    some = st.lists(inside, min_size=1, max_size=3)
    size = st.integers(0, 3)
    counts = {"minItems": size, "maxItems": size.map(lambda most: most + 1), "uniqueItems": st.booleans()}
    array = st.builds(
        lambda item, more: {"type": "array", "items": item, **more}, inside, st.fixed_dictionaries({}, optional=counts)
    )
    tuples = st.builds(lambda first, rest: {"type": "array", "prefixItems": first, "items": rest}, some, inside | st.booleans())
    mapping = st.builds(lambda each: {"type": "object", "additionalProperties": each}, inside)
    keyed = st.builds(
        lambda pattern, each: {"type": "object", "patternProperties": {pattern: each}}, st.sampled_from(PATTERNS), inside
    )
    joined = st.builds(lambda key, branches: {key: branches}, st.sampled_from(["anyOf", "oneOf", "allOf"]), some)
    unread = st.builds(lambda each: {"type": "array", "items": each, "contains": {"const": 1}}, inside)
    return st.one_of(objects(inside), objects(inside), array, tuples, mapping, keyed, joined, unread)


@st.composite
def objects(draw: st.DrawFn, inside: st.SearchStrategy[Any]) -> dict[str, Any]:
    properties = draw(st.dictionaries(st.sampled_from(NAMES), inside, max_size=4))
    required = [name for name in properties if draw(st.booleans())]
    found: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    others = draw(st.sampled_from([None, False, False, True, {"type": "integer"}]))
    return found if others is None else {**found, "additionalProperties": others}


@st.composite
def schemas(draw: st.DrawFn, *, root: Any = None) -> dict[str, Any]:
    """A schema with a definition that may mean itself."""
    any_schema = st.recursive(simple(), compound, max_leaves=6)
    node = {
        "type": "object",
        "properties": {"value": draw(simple()), "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
        "required": ["value"],
        "additionalProperties": False,
    }
    found = draw(any_schema if root is None else root(any_schema))
    return {**found, "$defs": {"node": node}}
