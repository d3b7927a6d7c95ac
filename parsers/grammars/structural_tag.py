"""Shapes as structural tags, the constraint language of xgrammar (vLLM, SGLang)."""

from collections.abc import Mapping
from typing import Any, assert_never

from .schema_for_xgrammar import FORMATS, anchored_pattern, schema_for_xgrammar
from .shapes import All, Const, Json, Maybe, OneOf, Pattern, Several, Shape, Text, Thought, Watched, all_of

Tag = dict[str, Any]


def structural_tag(shape: Shape) -> Tag:
    """The whole tag."""
    return {"type": "structural_tag", "format": _format(shape)}


def _format(shape: Shape) -> Tag:
    match shape:
        case All() | OneOf() | Maybe() | Several() | Watched() | Thought():
            return _composed(shape)
        case Const(text):
            return {"type": "const_string", "value": text}
        case Json(schema, excludes):
            return _json(schema, excludes)
        case Text():
            return _text(shape)
        case Pattern(regex):
            return {"type": "regex", "pattern": regex}
        case _:
            assert_never(shape)


def _composed(shape: All | OneOf | Maybe | Several | Watched | Thought) -> Tag:
    match shape:
        case All(()):
            return {"type": "const_string", "value": ""}
        case All(parts):
            return {"type": "sequence", "elements": [_format(part) for part in parts]}
        case OneOf(parts):
            return {"type": "or", "elements": [_format(part) for part in parts]}
        case Maybe(part):
            return {"type": "optional", "content": _format(part)}
        case Several():
            return _several(shape)
        case Thought():
            return _format(_thought(shape))
        case Watched(rules, once):
            listed = [[text, _format(rest)] for text, rest in rules]
            return {"type": "dispatch", "rules": listed, "loop": not once, "excludes": []}
        case _:
            assert_never(shape)


def _json(schema: Mapping[str, Any], excludes: tuple[str, ...]) -> Tag:
    tag: Tag = {"type": "json_schema", "json_schema": schema_for_xgrammar(schema), "max_whitespace_cnt": 1}
    return tag | ({"excludes": list(excludes)} if excludes else {})


def _text(shape: Text) -> Tag:
    """Free text. An XML style is the way to say that a pattern holds for text without quotes; it does not keep out `excludes`."""
    rules = {key: value for key, value in (shape.schema or {}).items() if key in ("type", "pattern", "format")}
    if "pattern" in rules and (anchored := anchored_pattern(rules["pattern"], quoted=False)) is not None:
        return {"type": "json_schema", "json_schema": {"type": "string", "pattern": anchored}, "style": "qwen_xml"}
    if rules.get("format") in FORMATS:
        return {"type": "json_schema", "json_schema": {"type": "string", "format": rules["format"]}, "style": "qwen_xml"}
    tag: Tag = {"type": "any_text", "excludes": list(shape.excludes)}
    longest = (shape.schema or {}).get("maxLength")
    return tag | ({"max_chars": longest} if isinstance(longest, int) else {})


def _several(shape: Several) -> Tag:
    """A tag without begin and end, because only tags may be separated by a text."""
    one = {"type": "tag", "begin": "", "content": _format(shape.part), "end": ""}
    return {
        "type": "tags_with_separator",
        "tags": [one],
        "separator": shape.separator,
        "at_least_one": shape.least > 0,
        "stop_after_first": False,
    }


def _thought(shape: Thought) -> Shape:
    """`then` stands once, because schemas are what makes a tag large: a closer may be missing where a call may interrupt."""
    ended = all_of(shape.text, Maybe(shape.closer) if shape.starts else shape.closer)
    if shape.opener is None:
        return all_of(ended, shape.then)
    return all_of(Maybe(all_of(Const(shape.opener), ended)), shape.then)
