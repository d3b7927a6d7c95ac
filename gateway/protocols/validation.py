"""Pydantic's findings as OpenAI's errors: the first one only, with its code, its wording and the path of the field."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gateway.errors import RequestError

M = TypeVar("M", bound=BaseModel)

EXPECTED = {
    "string_type": "a string",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a decimal",
    "bool_type": "a boolean",
    "list_type": "an array",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def validated(model: type[M], body: Mapping[str, Any], *, place: str = "") -> M:
    """The body as this model; RequestError tells the first thing that is wrong with it. `place`: where it stands."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise translated(error, place=place) from None


def translated(error: ValidationError, *, place: str = "") -> RequestError:
    """OpenAI's error for the first finding."""
    finding = error.errors(include_url=False)[0]
    param = f"{place}.{path(finding['loc'])}" if place else path(finding["loc"])
    code, message = _describe(finding, param)
    return RequestError(message, param=param, code=code)


def path(loc: Sequence[str | int]) -> str:
    """`messages[0].content` of `("messages", 0, "content")`. Names in parentheses are our union tags, not the client's fields."""
    text = ""
    for step in loc:
        if isinstance(step, int):
            text += f"[{step}]"
        elif not step.startswith("("):
            text += f".{step}" if text else step
    return text


def kind(value: object) -> str:
    """What a JSON value is, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a decimal"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def wrong_type(param: str, expected: str, value: object) -> RequestError:
    """The error for a value of another type."""
    message = f"Invalid type for '{param}': expected {expected}, but got {kind(value)} instead."
    return RequestError(message, param=param, code="invalid_type")


def missing(param: str) -> RequestError:
    """The error for a field that must be there."""
    return RequestError(f"Missing required parameter: '{param}'.", param=param, code="missing_required_parameter")


def not_among(param: str, value: str, supported: Sequence[str]) -> RequestError:
    """The error for a string that is not one of the known ones."""
    return RequestError(f"Invalid value: '{_short(value)}'. Supported values are: {_listed(supported)}.", param=param)


def _describe(finding: ErrorDetails, param: str) -> tuple[str, str]:
    name = finding["type"]
    value = finding["input"]
    context = finding.get("ctx", {})
    if name == "missing":
        return "missing_required_parameter", str(missing(param))
    if expected := EXPECTED.get(name) or (finding["msg"] if name == "wrong_type" else None):
        return "invalid_type", str(wrong_type(param, expected, value))
    if name == "literal_error":
        return _literal(param, value, context["expected"])
    if describe := BOUNDS.get(name):
        code, problem = describe(context, value)
        return code, f"Invalid '{param}': {problem}"
    return "invalid_value", f"Invalid value for '{param}': {finding['msg']}."


def _literal(param: str, value: object, expected: str) -> tuple[str, str]:
    if not isinstance(value, str):
        return "invalid_type", str(wrong_type(param, "a string", value))
    return "invalid_value", str(not_among(param, value, re.findall(r"'([^']*)'", expected)))


def _listed(values: Sequence[str]) -> str:
    quoted = [f"'{value}'" for value in values]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _short(value: str) -> str:
    return value if len(value) <= 100 else f"{value[:100]}..."


Describe = Callable[[Mapping[str, Any], Any], tuple[str, str]]


def _number(bound: str, side: str, sign: str) -> Describe:
    def describe(context: Mapping[str, Any], value: Any) -> tuple[str, str]:
        limit = context[bound]
        noun = "decimal" if isinstance(limit, float) else "integer"
        word = "below minimum" if side == "below_min" else "above maximum"
        problem = f"{noun} {word} value. Expected a value {sign} {limit}, but got {_short(str(value))} instead."
        return f"{noun}_{side}_value", problem

    return describe


def check_length(field: str, length: int, most: int) -> None:
    """RequestError, in OpenAI's words, where an array has more elements than are taken."""
    if length > most:
        expected = f"Expected an array with maximum length {most}, but got an array with length {length} instead."
        raise RequestError(f"Invalid '{field}': array too long. {expected}", param=field, code="array_above_max_length")


def _too_short(context: Mapping[str, Any], value: Any) -> tuple[str, str]:
    least = context["min_length"]
    return "empty_array", f"empty array. Expected an array with minimum length {least}, but got an empty array instead."


def _too_long(context: Mapping[str, Any], value: Any) -> tuple[str, str]:
    most = context["max_length"]
    kind, one = ("object", "an object") if isinstance(value, dict) else ("array", "an array")
    got = f"{one} with length {len(value)}"
    return "array_above_max_length", f"{kind} too long. Expected {one} with maximum length {most}, but got {got} instead."


def _long_string(context: Mapping[str, Any], value: Any) -> tuple[str, str]:
    most = context["max_length"]
    got = f"a string with length {len(value)}"
    return "string_above_max_length", f"string too long. Expected a string with maximum length {most}, but got {got} instead."


def _pattern(context: Mapping[str, Any], value: Any) -> tuple[str, str]:
    wanted = context["pattern"]
    return "invalid_value", f"string does not match pattern. Expected a string that matches the pattern '{wanted}'."


BOUNDS: dict[str, Describe] = {
    "greater_than_equal": _number("ge", "below_min", ">="),
    "greater_than": _number("gt", "below_min", ">"),
    "less_than_equal": _number("le", "above_max", "<="),
    "less_than": _number("lt", "above_max", "<"),
    "too_short": _too_short,
    "too_long": _too_long,
    "string_too_long": _long_string,
    "string_pattern_mismatch": _pattern,
}
