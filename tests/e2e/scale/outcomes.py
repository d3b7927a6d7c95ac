"""What came of a request, judged without any part of the gateway."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import jsonschema_rs

from tests.e2e.scale.asks import Ask

Verdict = Literal["valid", "cut", "silent", "refused", "failed", "leaked", "wrong", "hung", "engine"]
FINE: tuple[Verdict, ...] = ("valid", "cut", "silent", "refused", "failed")
"""`valid`: ended by itself, every call valid and every demand kept. `cut`: by the token limit, and what is whole is valid.
`silent`: a free turn without a call. `refused`: a 400 that names the tool whose schema cannot be held. `failed`: refused behind
decoding, as a warning had announced."""
BROKEN: tuple[Verdict, ...] = ("leaked", "wrong", "hung", "engine")
"""`leaked`: refused behind decoding though the grammar was to hold it. `wrong`: delivered, and breaks what was demanded; or
refused for no good reason. `hung`: no end within the time box. `engine`: the engine failed."""
ONLY_CHECKED = "only checked after decoding"
DRAFTS = (jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft7Validator, jsonschema_rs.Draft4Validator)


@dataclass(slots=True)
class Answer:
    """What was received."""

    status: int = 200
    names: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    content: str = ""
    finish: str | None = None
    error: Mapping[str, Any] | None = None
    warnings: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict, and the reason for it."""

    verdict: Verdict
    reason: str = ""


def judged(ask: Ask, answer: Answer) -> Outcome:
    """The outcome of one request."""
    if answer.error is not None:
        return _of_error(ask, answer, str(answer.error.get("code")), str(answer.error.get("message")))
    cut = answer.finish == "length"
    problems = list(_problems(ask, answer, cut=cut))
    if problems:
        return Outcome("wrong", "; ".join(problems))
    if cut:
        return Outcome("cut")
    return Outcome("valid" if answer.names else "silent")


def _of_error(ask: Ask, answer: Answer, code: str, message: str) -> Outcome:
    if answer.status == 400:
        return Outcome("refused" if code == "invalid_function_parameters" else "wrong", message)
    if code == "tool_call_invalid":
        announced = any(f"function '{sample.name}'" in answer.warnings and sample.name in message for sample in ask.callable)
        return Outcome("failed" if announced and ONLY_CHECKED in answer.warnings else "leaked", message)
    return Outcome("engine", f"{answer.status} {code}: {message}")


def _problems(ask: Ask, answer: Answer, *, cut: bool) -> list[str]:
    made = list(zip(answer.names, answer.arguments, strict=True))
    allowed = {sample.name: sample.schema for sample in ask.callable}
    found = [] if made or cut or not ask.forced else ["no call"]
    if ask.one_call and len(made) > 1:
        found.append(f"{len(made)} calls where one was allowed")
    if ask.forced and answer.content.strip() and not cut:  # the beginning of a call that was cut there is text
        found.append(f"content {answer.content[:80]!r}")
    if not cut and answer.finish != ("tool_calls" if made and ask.kind != "named" else "stop"):
        found.append(f"finish_reason {answer.finish}")
    whole = made[:-1] if cut else made  # the last one may be what was cut
    found += [f"a call of {name!r}" for name, _ in made if name not in allowed]
    found += [f"{name} got {text[:300]}" for name, text in whole if name in allowed and not valid(text, allowed[name])]
    return found


def valid(arguments: str, schema: Mapping[str, Any]) -> bool:
    """Whether the text is an object of that schema, formats asserted."""
    try:
        value = json.loads(arguments)
        return isinstance(value, dict) and bool(validator(json.dumps(schema)).is_valid(value))
    except ValueError:
        return False


@cache
def validator(schema: str) -> Any:
    """The validator of a schema in JSON, by the newest draft that takes it; ValueError when none does."""
    for draft in DRAFTS:
        try:
            return draft(json.loads(schema), validate_formats=True)
        except ValueError as error:
            problem = error
    raise problem
