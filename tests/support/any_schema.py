"""Any JSON Schema at all, and some that are none: what a fuzz gives tools and answers."""

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "\ud800", "city", "weather_in", "ü", "with space", "$ref", "type"])
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null"])
REFERENCES = st.sampled_from(
    ["#", "#/$defs/a", "#/$defs/b", "#/definitions/a", "#/properties/a", "http://127.0.0.1:9/x", "#/$defs/none"]
)
PATTERNS = st.sampled_from(
    ["^a+$", "x", "^x_", "a|b", r"^\d{3}-\w$", r"^\p{L}+$", "(?=a)b", r'^"q"$', "[", r"(a)\1", "^$", "(a+)+$"]
)
FORMATS = st.sampled_from(["date", "date-time", "email", "uuid", "uri", "ipv4", "color", "regex", "duration", ""])
SMALL = st.integers(min_value=-2, max_value=6)
LARGE = st.sampled_from([2**31, 2**53 + 1, -(2**63), 10**20, 1e300])
SIZES = st.integers(min_value=0, max_value=5)
VALUES = st.one_of(st.none(), st.booleans(), SMALL, st.sampled_from([0.5, 1e30, "a", "", "</tool_call>", "日本", [1], {"a": 1}]))
ODD = st.one_of(VALUES, st.sampled_from(["text", [], {}, [{}], True]))


def keywords(children: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    some = st.lists(children, min_size=1, max_size=3)
    named = st.dictionaries(NAMES, children, max_size=3)
    return {
        "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
        "properties": named,
        "required": st.lists(NAMES, max_size=3, unique=True),
        "additionalProperties": st.one_of(st.booleans(), children),
        "items": st.one_of(children, st.booleans()),
        "prefixItems": some,
        "anyOf": some,
        "oneOf": some,
        "allOf": some,
        "not": children,
        "if": children,
        "then": children,
        "else": children,
        "contains": children,
        "minContains": SIZES,
        "propertyNames": children,
        "patternProperties": st.dictionaries(PATTERNS, children, max_size=2),
        "dependentSchemas": named,
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2), max_size=2),
        "enum": st.lists(VALUES, min_size=1, max_size=4),
        "const": VALUES,
        "pattern": PATTERNS,
        "format": FORMATS,
        "minLength": SIZES,
        "maxLength": SIZES,
        "minimum": SMALL | LARGE,
        "maximum": SMALL | LARGE,
        "exclusiveMinimum": SMALL,
        "exclusiveMaximum": SMALL,
        "multipleOf": st.sampled_from([1, 2, 7, 0.5, 0.1, 0.3]),
        "minItems": SIZES,
        "maxItems": SIZES,
        "uniqueItems": st.booleans(),
        "minProperties": SIZES,
        "maxProperties": SIZES,
        "unevaluatedProperties": st.booleans() | children,
        "unevaluatedItems": st.booleans(),
        "$ref": REFERENCES,
        "$defs": named,
        "definitions": named,
        "description": st.just("told to the model"),
        "nullable": st.booleans(),
    }


@st.composite
def a_schema(draw: st.DrawFn, depth: int = 3) -> dict[str, Any]:
    """A few keywords that may have nothing to do with one another; now and then one with a value of a wrong kind."""
    known = keywords(
        a_schema(depth - 1) if depth else st.sampled_from([{}, {"type": "string"}, {"type": "integer"}, {"$ref": "#"}])
    )
    chosen = draw(st.lists(st.sampled_from(sorted(known)), max_size=4, unique=True))
    found = {key: draw(known[key]) for key in chosen}
    if chosen and draw(st.integers(0, 19)) == 0:
        found[chosen[0]] = draw(ODD)
    return found


@st.composite
def parameters(draw: st.DrawFn) -> dict[str, Any]:
    """A schema of an object, as most are."""
    return {**draw(a_schema()), "type": "object", "properties": draw(st.dictionaries(NAMES, a_schema(2), max_size=3))}
