"""JSON Schemas of tools and response formats: which are accepted, and validators for what the model writes.

Nothing is ever fetched: a `$ref` resolves inside its own schema or the schema is refused.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NoReturn

import jsonschema_rs
from jsonschema_rs import Draft4Validator, Draft7Validator, Draft202012Validator, FancyRegexOptions, ValidationError

from gateway.chat.json_text import canonical

DRAFTS = (Draft202012Validator, Draft7Validator, Draft4Validator)
BACKTRACKING = 100_000
"""Steps one pattern may take on one string before it counts as not matching."""


def _no_retrieval(uri: str) -> NoReturn:
    raise ValueError(f"'{uri}' lies outside of the schema; a $ref must point into it ('#/...')")


OPTIONS: dict[str, Any] = {
    "validate_formats": True,
    "retriever": _no_retrieval,
    "pattern_options": FancyRegexOptions(backtrack_limit=BACKTRACKING),
}


def problem_of(schema: Mapping[str, Any]) -> str | None:
    """Why nothing can be held to this schema, in words for its author; None when it can."""
    if not schema:
        return None
    try:
        _compiled(canonical(schema))
    except _Unusable as error:
        return str(error)
    return None


def violation(arguments: str, schema: Mapping[str, Any]) -> str | None:
    """How JSON text breaks a schema (place and rule, never the value); None when it is an object that satisfies it."""
    try:
        value = json.loads(arguments, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        return f"arguments are not JSON: {error}"
    if not isinstance(value, dict):
        return f"arguments are no object but {type(value).__name__}"
    return value_violation(value, schema)


def is_violated(arguments: str, schema: Mapping[str, Any]) -> bool:
    """Whether JSON text breaks a schema; nothing breaks one that is of no use."""
    try:
        return violation(arguments, schema) is not None
    except _Unusable:
        return False


def value_violation(value: Any, schema: Mapping[str, Any]) -> str | None:
    """How a value breaks a schema; None when it does not."""
    if not schema:
        return None
    try:
        _compiled(canonical(schema)).validate(value)
    except ValidationError as error:
        where = "".join(f"[{step!r}]" for step in error.instance_path) or "the object itself"
        return f"{where} breaks {'/'.join(str(step) for step in error.schema_path)}"
    except ValueError as error:
        return str(error)
    return None


def errors_of(value: Any, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    """Everything about a value that breaks a schema."""
    return iter(_compiled(canonical(schema)).iter_errors(value)) if schema else iter(())


def answer_violation(text: str, schema: Mapping[str, Any] | None) -> str | None:
    """How an answer breaks the schema that it is held to (None: it must be any object); None when it does not."""
    if schema is None:
        problem = violation(text, {})
        return problem and problem.replace("arguments are", "it is")
    try:
        value = json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        return f"it is not JSON: {error}"
    return value_violation(value, schema)


def no_constant(name: str) -> NoReturn:
    """What a JSON reader is to do with NaN and Infinity."""
    raise ValueError(f"{name} is not JSON")


class _Unusable(Exception):
    """No draft takes the schema; the text says what the first one has against it."""


@lru_cache(maxsize=512)
def _compiled(text: str) -> Any:
    """A validator, formats asserted, by the first draft that takes the schema: its own, else the newest, else an older one."""
    schema = json.loads(text)
    reason = ""
    for draft in (jsonschema_rs.validator_cls_for(schema), *DRAFTS):
        try:
            return draft(schema, **OPTIONS)
        except (ValidationError, ValueError) as error:
            reason = reason or _reason(error)
    raise _Unusable(reason)


def _reason(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return f"{error}."
    place = f"In context={tuple(error.instance_path)}, " if error.instance_path else ""
    return f"{place}{error.message.rpartition('ValueError: ')[2].rstrip('.')}."
