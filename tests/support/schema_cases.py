"""Schemas with values that satisfy them, both at random: of every keyword that people use, nested, and with awkward names.

A case is a schema and a strategy for its values, as `json.dumps` writes them: properties in the order of the schema.
"""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

AWKWARD = [
    "a",
    "city",
    "größe",
    "日本",
    "with space",
    'say "hi"',
    "back\\slash",
    "😀",
    "<b>",
    "a/b",
    "~1",
    "$ref",
    "type",
    "%",
    "tab\t",
]
LETTERS = 'ab"\\/<>{}[],: é日😀\n\t0'
PATTERNS = {
    "^[a-z]{2,4}$": ["ab", "abcd"],
    "x": ["x", 'say "x" é'],
    "^a": ["a", 'a"\\'],
    "b$": ["b", "日b"],
    r"^\d{3}-\w+$": ["123-a_B", "000-x"],
    "^(ab|cd)*$": ["", "abcd"],
    '^"q"$': ['"q"'],
    "a|b": ["a", "xbx"],
    "^[^,]+$": ["é", "a b"],
    r"^v\d+(\.\d+){1,2}$": ["v1.2", "v10.20.3"],
    r"^\p{Lu}": ["A", "É"],
    "^(?=a)": ["ab"],
    r"^\S+\s\S+$": ["a b", "é\tx"],
}
FORMATS = {
    "date": ["2024-02-28"],
    "time": ["10:20:30Z", "23:59:59.5+01:00"],
    "date-time": ["2024-12-28T10:20:30Z"],
    "email": ["a.b@example.org"],
    "uri": ["https://example.org/a?b=c#d"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
    "ipv4": ["192.168.0.1"],
    "ipv6": ["2001:db8::1"],
    "hostname": ["example.org"],
    "duration": ["P1DT2H"],
    "iban": ["anything"],
    "regex": ["^a+$"],
}
LISTED = [None, True, False, 0, 1, -3, 2.5, "a", "", "b c", 'q"', "é", "</tool_call>", [1, "x"], {"k": 1, "l": [None]}]


@dataclass(frozen=True)
class Case:
    """A schema, and values that satisfy it."""

    schema: dict[str, Any]
    values: st.SearchStrategy[Any]


NODE = Case({"$ref": "#/$defs/node"}, st.deferred(lambda: nodes(3)))
DEFINITION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": -9, "maximum": 9},
        "next": {"title": "Next", "allOf": [{"$ref": "#/$defs/node"}]},
    },
    "required": ["n"],
    "additionalProperties": False,
}
BASE: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "string", "maxLength": 5}}, "required": ["id"]}
ROOT = {"$defs": {"node": DEFINITION, "base": BASE}}


def nodes(depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """Values of the definition that means itself."""
    number = st.integers(-9, 9)
    last = number.map(lambda n: {"n": n})
    return last if not depth else last | st.tuples(number, nodes(depth - 1)).map(lambda both: {"n": both[0], "next": both[1]})


@st.composite
def numbers(draw: st.DrawFn) -> Case:
    """Within bounds, as people set them."""
    integer = draw(st.booleans())
    edges = [2**31, -(2**53), 2**60] if integer else [10**9]
    low, high = sorted(draw(st.lists(st.integers(-1000, 1000) | st.sampled_from(edges), min_size=2, max_size=2)))
    step = draw(st.sampled_from([None, None, None, 1, 5, 7]))
    schema: dict[str, Any] = {"type": "integer" if integer else "number"}
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = low - 1
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = high + 1
    if step is not None:
        first, last = -(-low // step), high // step
        if first <= last and max(-low, high) < 10**12:
            return Case({**schema, "multipleOf": step}, st.integers(first, last).map(lambda times: times * step))
    whole = st.integers(low, high)
    halves = whole.map(lambda value: value + 0.5).filter(lambda value: low <= value <= high and abs(value) < 2**40)
    return Case(schema, whole if integer or low == high else whole | halves | whole)


@st.composite
def texts(draw: st.DrawFn) -> Case:
    """Plain, or of a pattern, a format or a length."""
    kind = draw(st.sampled_from(["plain", "length", "pattern", "format"]))
    if kind == "pattern":
        pattern = draw(st.sampled_from(sorted(PATTERNS)))
        most = {"maxLength": 20} if draw(st.booleans()) else {}
        return Case({"type": "string", "pattern": pattern, **most}, st.sampled_from(PATTERNS[pattern]))
    if kind == "format":
        form = draw(st.sampled_from(sorted(FORMATS)))
        return Case({"type": "string", "format": form}, st.sampled_from(FORMATS[form]))
    least, more = (draw(st.integers(0, 6)), draw(st.integers(0, 20))) if kind == "length" else (0, 12)
    rules = {"minLength": least, "maxLength": least + more} if kind == "length" else {}
    return Case({"type": "string", **rules}, st.text(LETTERS, min_size=least, max_size=least + more))


@st.composite
def listed(draw: st.DrawFn) -> Case:
    values = draw(st.lists(st.sampled_from(LISTED), min_size=1, max_size=4, unique_by=repr))
    if draw(st.booleans()):
        return Case({"const": values[0]}, st.just(values[0]))
    return Case({"enum": values}, st.sampled_from(values))


def leaves() -> st.SearchStrategy[Case]:
    plain = [Case({"type": "boolean"}, st.booleans()), Case({"type": "null"}, st.none()), NODE]
    return texts() | numbers() | listed() | st.sampled_from(plain) | nullable()


@st.composite
def nullable(draw: st.DrawFn) -> Case:
    case = draw(texts() | numbers())
    return Case({**case.schema, "type": [case.schema["type"], "null"]}, case.values | st.none())


@st.composite
def arrays(draw: st.DrawFn, inside: st.SearchStrategy[Case]) -> Case:
    first = draw(st.lists(inside, max_size=2))
    rest = draw(st.none() | inside)
    least = draw(st.integers(0, 2))
    schema: dict[str, Any] = {"type": "array"}
    if first:
        schema["prefixItems"] = [case.schema for case in first]
    schema["items"] = False if rest is None else rest.schema
    head = st.tuples(*(case.values for case in first)).map(list)
    if rest is None:
        return Case(schema, head)
    bounds = {"minItems": len(first) + least, "maxItems": len(first) + least + 2} if draw(st.booleans()) else {}
    unique = {"uniqueItems": True} if draw(st.integers(0, 3)) == 0 else {}
    tail = st.lists(rest.values, min_size=least, max_size=least + 2)
    return Case({**schema, **bounds, **unique}, st.tuples(head, tail).map(lambda parts: parts[0] + parts[1]))


@st.composite
def objects(draw: st.DrawFn, inside: st.SearchStrategy[Case]) -> Case:
    names = draw(st.lists(st.sampled_from(AWKWARD), max_size=4, unique=True))
    members = {name: draw(inside) for name in names}
    required = [name for name in names if draw(st.booleans())]
    schema: dict[str, Any] = {"type": "object", "properties": {name: case.schema for name, case in members.items()}}
    schema |= {"required": required} if required else {}
    others = draw(st.sampled_from(["unsaid", "closed", "closed", "open", "typed"]))
    own = _in_order(members, required)
    if others == "unsaid":
        return Case(schema, own)
    if others == "closed":
        return Case({**schema, "additionalProperties": False}, own)
    extra = draw(inside) if others == "typed" else Case({}, st.sampled_from(LISTED))
    more = st.dictionaries(st.sampled_from(["other", "zzz", "é 1"]), extra.values, max_size=2)
    added = True if others == "open" else extra.schema
    return Case({**schema, "additionalProperties": added}, st.tuples(own, more).map(lambda parts: {**parts[0], **parts[1]}))


def _in_order(members: dict[str, Case], required: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    missing = st.just(_MISSING)
    each = [case.values if name in required else case.values | missing for name, case in members.items()]
    return st.tuples(*each).map(
        lambda values: {name: value for name, value in zip(members, values, strict=True) if value is not _MISSING}
    )


_MISSING = object()


@st.composite
def keyed(draw: st.DrawFn, inside: st.SearchStrategy[Case]) -> Case:
    """Objects of no declared names."""
    case = draw(inside)
    if draw(st.booleans()):
        schema = {"type": "object", "patternProperties": {"^x_": case.schema}, "additionalProperties": False}
        return Case(schema, st.dictionaries(st.sampled_from(["x_1", "x_é", "x_ "]), case.values, max_size=2))
    counts = {"minProperties": 1, "maxProperties": 3} if draw(st.booleans()) else {}
    least = 1 if counts else 0
    names = {"propertyNames": {"pattern": "^[a-z]+$"}} if draw(st.booleans()) else {}
    return Case(
        {"type": "object", "additionalProperties": case.schema, **counts, **names},
        st.dictionaries(st.sampled_from(["a", "bc", "def"]), case.values, min_size=least, max_size=3),
    )


@st.composite
def unions(draw: st.DrawFn, inside: st.SearchStrategy[Case]) -> Case:
    """Alternatives; of `oneOf` whose branches may meet only what satisfies one is of use."""
    branches = draw(st.lists(inside, min_size=1, max_size=3))
    return Case(
        {draw(st.sampled_from(["anyOf", "oneOf"])): [case.schema for case in branches]},
        st.one_of(*(case.values for case in branches)),
    )


@st.composite
def joined(draw: st.DrawFn, inside: st.SearchStrategy[Case]) -> Case:
    """The same thing said in parts: what a reader has to put together."""
    case = draw(inside)
    whole = case.schema
    match draw(st.sampled_from(["allOf", "beside", "ref", "described"])):
        case "allOf":
            some = {key: value for key, value in whole.items() if key in ("type", "minimum", "maximum", "minLength", "maxLength")}
            return Case({"allOf": [whole, some] if some else [whole]}, case.values)
        case "beside":
            return Case({"description": "told", "allOf": [whole]}, case.values)
        case "ref":
            return Case({"description": "told", "$ref": "#/$defs/node"}, NODE.values)
        case _:
            return Case({**whole, "title": "T", "default": None, "examples": [1]}, case.values)


@st.composite
def inherited(draw: st.DrawFn, inside: st.SearchStrategy[Case]) -> Case:
    """An object that adds to another one."""
    names = draw(st.lists(st.sampled_from(AWKWARD), min_size=1, max_size=2, unique=True))
    members = {name: draw(inside) for name in names}
    required = names[:1]
    own = {"type": "object", "properties": {name: case.schema for name, case in members.items()}, "required": required}
    both = st.tuples(st.text("ab", max_size=5).map(lambda text: {"id": text}), _in_order(members, required))
    if draw(st.booleans()):
        return Case({"allOf": [{"$ref": "#/$defs/base"}, own]}, both.map(lambda parts: {**parts[0], **parts[1]}))
    return Case({"$ref": "#/$defs/base", **own}, both.map(lambda parts: {**parts[1], **parts[0]}))


@st.composite
def conditions(draw: st.DrawFn, inside: st.SearchStrategy[Case]) -> Case:
    """What grammars leave to the check; values that break it are of no use."""
    case = draw(inside)
    said = draw(
        st.sampled_from(
            [
                {"not": {"const": "never"}},
                {"not": {"type": "null"}},
                {"if": {"type": "string"}, "then": {"minLength": 1}},
                {"if": {"required": ["a"]}, "then": {"required": ["city"]}, "else": {"maxProperties": 3}},
                {"contains": {"type": "integer"}},
                {"dependentRequired": {"a": ["city"]}},
                {"unevaluatedProperties": False},
            ]
        )
    )
    return Case({**case.schema, **said} if "$ref" not in case.schema else {"allOf": [case.schema], **said}, case.values)


def _compound(inside: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    many = (objects, objects, arrays, keyed, unions, joined, inherited, conditions)
    return st.one_of(*(kind(inside) for kind in many))


def cases(*, root: bool = False) -> st.SearchStrategy[Case]:
    """Any of them; `root`: objects, as arguments are."""
    every = st.recursive(leaves(), _compound, max_leaves=5)
    chosen = objects(every) if root else every
    return chosen.map(lambda case: Case({**case.schema, **ROOT}, case.values))
