"""The constraint on content: the answer as one JSON value, behind the reasoning where the prompt has opened it."""

from collections.abc import Mapping
from typing import Any

import parsers
from gateway.chat.plan import Constraint, Dialect
from gateway.chat.request import ResponseFormat
from gateway.errors import ResponseSchemaInvalid
from parsers import ConstraintError, Format, Message, Parser, ReasoningDelta, UnwritableError
from parsers.grammars import json_tag

from . import grammar_check

REASONS_FIRST = "response_format is not enforced while decoding: this engine cannot hold the answer to it after reasoning"


def constraint_for(wanted: ResponseFormat, fmt: Format, *, dialect: Dialect, opening: str) -> tuple[Constraint | None, str]:
    """The constraint, and a warning ("" when there is none) about what it does not hold."""
    closer = closer_of(fmt) if reasons(fmt, opening) else ""
    if closer is None or (closer and dialect == "lark"):
        return None, REASONS_FIRST
    schema: Mapping[str, Any] = wanted.schema or {"type": "object"}
    try:
        constraint = _constraint(wanted, dict(schema), dialect=dialect, closer=closer)
    except ConstraintError as error:
        raise _refused(wanted, error.path, str(error)) from error
    if problem := grammar_check.problem_of(constraint):
        raise _refused(wanted, grammar_check.path_of_problem(schema, dialect), problem)
    return constraint, ""


def _refused(wanted: ResponseFormat, path: tuple[str | int, ...], problem: str) -> ResponseSchemaInvalid:
    place = f"In context={path}, it cannot be enforced while decoding"
    message = f"Invalid schema for response_format '{wanted.name}': {place}: {problem}"
    return ResponseSchemaInvalid(message, param=wanted.place, code=wanted.code)


def reasons(fmt: Format, opening: str) -> bool:
    """Whether the prompt ends inside of reasoning."""
    parser = Parser(fmt, tools=(), opening=opening)
    return any(isinstance(event, ReasoningDelta) for event in parser.feed("x"))


def closer_of(fmt: Format) -> str | None:
    """What the format writes between reasoning and content, with its white space; None when it has no such text."""
    try:
        text = parsers.write(fmt, Message(reasoning="reasons", content="answers"))
    except UnwritableError:
        return None
    return text.partition("reasons")[2].partition("answers")[0].lstrip() or None


def _constraint(wanted: ResponseFormat, schema: dict[str, Any], *, dialect: Dialect, closer: str) -> Constraint:
    """A structural tag rather than an engine's own JSON mode: vLLM chooses its grammar compiler by the first schema that it meets
    in that mode, for as long as it runs."""
    if dialect == "lark":
        return Constraint("json_schema" if wanted.schema else "json_object", schema)
    answer = json_tag(schema)["format"]
    if not closer:
        return Constraint("structural_tag", {"type": "structural_tag", "format": answer})
    free = {"type": "any_text", "excludes": [closer.rstrip()]}
    thinking = {"type": "tag", "begin": "", "content": free, "end": closer}
    return Constraint(
        "structural_tag", {"type": "structural_tag", "format": {"type": "sequence", "elements": [thinking, answer]}}
    )
