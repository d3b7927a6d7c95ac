"""What the Python clients' scripts share; the standard library only, for it runs in each client's own environment.

A script says `scenario("A")(function)` for what its client can do and ends with `run()`; each function returns a short text or
fails. One JSON line is printed for each: {"scenario", "ok", "detail"}.
"""

import json
import os
import traceback
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = os.environ["TOOLWIRE_URL"]
BASE_URL = f"{ROOT}/v1"
MODEL = "scripted"

ONE_TOOL = "What is the weather in Oslo?"
TWO_CALLS = "What is the weather in Oslo and Rome?"
TASK = "Please read notes.txt and tell me the code."
PERSON = "Who is Anna?"
PERSON_BY_CALL = "Who is Anna by a call?"
THINK = "What is two and two?"
PING = "Please ping the server."
HELLO = "Hello"
SECRET = "4711"

Function = Callable[[], str | None]
_scenarios: dict[str, Function] = {}


def scenario(name: str) -> Callable[[Function], Function]:
    """Registers a function as this scenario."""

    def register(function: Function) -> Function:
        _scenarios[name] = function
        return function

    return register


def run() -> None:
    """Run all that is registered."""
    for name in sorted(_scenarios):
        try:
            line: dict[str, Any] = {"scenario": name, "ok": True, "detail": _scenarios[name]() or ""}
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)
            own = next((frame for frame in reversed(where) if frame.filename.endswith("run.py")), where[-1])
            line = {"scenario": name, "ok": False, "detail": f"line {own.lineno}: {type(error).__name__}: {error}"[:600]}
        print(json.dumps(line), flush=True)


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 7 degrees"


def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


def ping() -> str:
    """Says whether the server is up."""
    return "pong"


TOOLS: dict[str, Callable[..., str]] = {"get_weather": get_weather, "read_file": read_file, "ping": ping}


def parameters(*names: str) -> dict[str, Any]:
    """A schema for an object of strings."""
    fields = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": fields, "required": list(names), "additionalProperties": False}


SCHEMAS = {"get_weather": parameters("city"), "read_file": parameters("path"), "ping": parameters()}
PERSON_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def same(found: Any, expected: Any) -> None:
    """Fails, with both, unless they are equal."""
    if found != expected:
        raise AssertionError(f"{found!r} instead of {expected!r}")


def failure(work: Callable[[], Any]) -> Any:
    """What the work raises."""
    try:
        result = work()
    except Exception as error:
        return error
    raise AssertionError(f"no error, but {result!r}")


def broken_off(work: Callable[[], Any]) -> str:
    """Scenario G: what becomes of a stream whose engine dies, which the client must not take for an answer."""
    error = failure(work)
    same("broke off" in str(error), True)
    return f"{type(error).__name__} with our message"


def attempts(model: str) -> int:
    """How often the engine was asked for this model since the last time."""
    engine = os.environ["TOOLWIRE_ENGINE"]
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{engine}/asked/{model}") as answer:
        return int(json.load(answer)["asked"])


def meets_failures(ask: Callable[[str], Any], status_of: Callable[[Any], int | None]) -> str:
    """Scenario F: each status arrives as the client's own error, and an engine that is busy twice is asked a third time."""
    told = []
    for model, status in (("fails-400", 400), ("fails-429", 429), ("fails-500", 502)):
        attempts(model)
        error = failure(lambda model=model: ask(model))
        same(status_of(error), status)
        told.append(f"{status} {type(error).__name__} after {attempts(model)}")
    attempts("busy")
    ask("busy")
    return ", ".join([*told, f"503 twice: well after {attempts('busy')}"])
