"""Shapes as structural tags, the constraint language of xgrammar (vLLM, SGLang)."""

from collections.abc import Mapping
from typing import Any, assert_never

from .schema_for_xgrammar import FORMATS, anchored_pattern, schema_for_xgrammar
from .shapes import EMPTY, All, Const, Json, Maybe, OneOf, Pattern, Several, Shape, Text, Thought, Watched, all_of

Tag = dict[str, Any]
LENGTHS = ("minLength", "maxLength")
COUNTED = 128
"""The longest limit of a text without quotes that is counted while decoding: some hundreds take the engine seconds to prepare."""


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
    said = schema_for_xgrammar(schema)
    tag: Tag = {"type": "json_schema", "json_schema": said, "max_whitespace_cnt": 1}
    # Excluding a text makes xgrammar forget lengths, which models break more often than they write a closer.
    return tag | ({"excludes": list(excludes)} if excludes and not _limits_length(said) else {})


def _limits_length(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_limits_length, schema))
    if not isinstance(schema, dict):
        return False
    return any(key in schema for key in LENGTHS) or any(map(_limits_length, schema.values()))


def _text(shape: Text) -> Tag:
    """Free text. An XML style is the way to say that rules hold for text without quotes; it does not keep out `excludes`."""
    rules = {key: value for key, value in (shape.schema or {}).items() if key in ("type", "pattern", "format")}
    if "pattern" in rules and (anchored := anchored_pattern(rules["pattern"], quoted=False)) is not None:
        return {"type": "json_schema", "json_schema": {"type": "string", "pattern": anchored}, "style": "qwen_xml"}
    if rules.get("format") in FORMATS:
        return {"type": "json_schema", "json_schema": {"type": "string", "format": rules["format"]}, "style": "qwen_xml"}
    lengths = {key: value for key, value in (shape.schema or {}).items() if key in LENGTHS and isinstance(value, int)}
    # Not by `max_chars`: beside `excludes` it miscounts broken characters, and the engine then fails at its own mask.
    if lengths and max(lengths.values()) <= COUNTED:
        return {"type": "json_schema", "json_schema": {"type": "string", **lengths}, "style": "qwen_xml"}
    return {"type": "any_text", "excludes": list(shape.excludes)}


def _several(shape: Several) -> Tag:
    """Calls are tags, because only of tags a text between two can be said without saying them twice."""
    item = _format(shape.part)
    if not shape.separator:
        return {"type": "plus" if shape.least else "star", "content": item}
    if shape.least:
        limits = {"at_least_one": True, "stop_after_first": False}
        return {"type": "tags_with_separator", "tags": _tags(shape.part), "separator": shape.separator, **limits}
    more = {"type": "star", "content": _format(all_of(Const(shape.separator), shape.part))}
    return {"type": "optional", "content": {"type": "sequence", "elements": [item, more]}}


def _tags(shape: Shape) -> list[Tag]:
    """Shapes as tags. What a tag holds must have an end where it has none of its own, so that the last text is its end."""
    if isinstance(shape, OneOf):
        return [tag for part in shape.parts for tag in _tags(part)]
    *before, last = shape.parts if isinstance(shape, All) else (EMPTY, shape)
    if isinstance(last, Const):
        return [{"type": "tag", "begin": "", "content": _format(all_of(*before)), "end": last.text}]
    return [{"type": "tag", "begin": "", "content": _format(shape), "end": ""}]


def _thought(shape: Thought) -> Shape:
    """`then` stands once, because schemas are what makes a tag large: a closer may be missing where a call may interrupt."""
    ended = all_of(shape.text, Maybe(shape.closer) if shape.starts else shape.closer)
    if shape.opener is None:
        return all_of(ended, shape.then)
    return all_of(Maybe(all_of(Const(shape.opener), ended)), shape.then)
