"""Custom tools as functions with one text argument. A grammar for the input becomes the `pattern` the argument is held to."""

import re
from typing import Any

from gateway.errors import RequestError
from gateway.planning import schemas
from gateway.planning.lark_pattern import LONGEST, GrammarRefused, pattern_of
from parsers import Tool

from .custom_input import INPUT

ABOUT_INPUT = f"The argument `{INPUT}` is the tool's whole input, as plain text."
UNSUPPORTED = {
    r"\(\?<?[=!]": "lookaround",
    r"\(\?[a-zA-Z-]+[:)]": "an inline flag",
    r"\\[1-9]": "a backreference",
    r"\[\[:": "a POSIX class",
    r"\\[bBAzZ]": "a word or text boundary",
    r"(?<!\\)[*+?}][?+]": "a lazy or possessive quantifier",
}
"""What of a regular expression is refused."""


def custom_tool(name: str, description: str, grammar: tuple[str, str] | None = None, *, place: str = "") -> Tool:
    """The function that stands for a custom tool. `grammar`: its syntax and definition; `place`: that of the definition."""
    about = f"{description}\n\n{ABOUT_INPUT}" if description else ABOUT_INPUT
    if grammar is None:
        return Tool(name, about, _parameters({}), False)
    syntax, definition = grammar
    about += f" It must match this {syntax} grammar:\n{definition}"
    return Tool(name, about, _parameters({"pattern": f"^(?:{_pattern(syntax, definition, place)})$"}), True)


def _parameters(rules: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {INPUT: {"type": "string", **rules}},
        "required": [INPUT],
        "additionalProperties": False,
    }


def _pattern(syntax: str, definition: str, place: str) -> str:
    if len(definition) > LONGEST:
        raise _refused(place, f"it is too large (at most {LONGEST} characters)")
    try:
        pattern = pattern_of(definition) if syntax == "lark" else definition
    except GrammarRefused as error:
        raise _refused(place, f"{error}") from None
    bare = re.sub(r"\\\\|\[\^?\]?(?:\\.|[^\]\\\[])*\]", "", pattern)
    for feature, name in UNSUPPORTED.items():
        if re.search(feature, bare):
            raise _refused(place, f"{name} is not supported")
    if problem := _no_expression(pattern):
        raise _refused(place, problem)
    return pattern


def _no_expression(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"it is not a regular expression: {error}"
    problem = schemas.problem_of({"type": "string", "pattern": pattern})
    return "it is too large or not a regular expression" if problem else None


def _refused(place: str, reason: str) -> RequestError:
    return RequestError(f"Invalid grammar at '{place}': {reason.rstrip('.')}.", param=place)
