"""What the Python clients' scripts share; the standard library only, for it runs in each client's own environment.

A script says `scenario("A")(function)` for what its client can do, `lacks(H="why")` for what it cannot, `fails(G="evidence")`
for what it does wrong by itself, and ends with `run()`; each function returns a short text or fails. One JSON line is printed
for each: {"scenario", "ok", "detail"}, where `ok` is null for what the client lacks, with {"known": true} for its own fault.
Of a client that runs tools by itself, `agent(...)` makes most scenarios.
"""

import json
import os
import traceback
import urllib.request
from collections.abc import Callable, Iterator
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
"""Answered by a call of `final_result`; the next one by a call of `Person`."""
AS_PERSON = "Who is Anna as a Person?"
THINK = "What is two and two?"
PING = "Please ping the server."
HELLO = "Hello"
SECRET = "4711"

Function = Callable[[], str | None]
Ask = Callable[[str, str], Any]
_scenarios: dict[str, Function] = {}
_lacking: dict[str, str] = {}
_failing: dict[str, str] = {}


def scenario(name: str) -> Callable[[Function], Function]:
    """Registers a function as this scenario."""

    def register(function: Function) -> Function:
        _scenarios[name] = function
        return function

    return register


def lacks(**reasons: str) -> None:
    """Says of scenarios why the client cannot do them."""
    _lacking.update(reasons)


def fails(**evidence: str) -> None:
    """Says of scenarios that the client itself does them wrong, and how that is known."""
    _failing.update(evidence)


def run() -> None:
    """Run all that is registered, and tell what is lacking."""
    for name in sorted(_scenarios | _lacking):
        # On a line of its own, whatever the client prints.
        print("\n" + json.dumps(outcome(name)), flush=True)


def outcome(name: str) -> dict[str, Any]:
    """The line about one scenario."""
    if name in _lacking:
        return {"scenario": name, "ok": None, "detail": _lacking[name]}
    line = tried(name)
    if name in _failing:
        known = {**line, "detail": _failing[name], "known": True}
        return known if line["ok"] is False else {**line, "ok": False, "detail": "it works now: expect no failure of it"}
    return line


def tried(name: str) -> dict[str, Any]:
    """The line about one scenario that is run."""
    try:
        return {"scenario": name, "ok": True, "detail": _scenarios[name]() or ""}
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)
        own = next((frame for frame in reversed(where) if frame.filename.endswith("run.py")), where[-1])
        return {"scenario": name, "ok": False, "detail": f"line {own.lineno}: {type(error).__name__}: {error}"[:600]}


def agent(says: Ask, *, asks: Ask | None = None, retries: bool = True) -> None:
    """Registers what a client shows that runs tools by itself: `says` gives its answer to (text, model), streamed if it can.

    `asks` is the way to the model whose failures are looked at, where it is another; `retries` says that it retries by itself.
    """
    plain = asks or says

    def answer(text: str, *calls: Call) -> str:
        called.clear()
        final = str(says(text, MODEL))
        same(sorted(called, key=str), list(calls))
        return final

    scenario("A")(lambda: same("degrees" in answer(ONE_TOOL, OSLO), True))
    scenario("B")(lambda: same("degrees" in answer(TWO_CALLS, OSLO, ROME), True))
    scenario("C")(lambda: same(SECRET in answer(TASK, NOTES), True))
    scenario("F")(lambda: meets_failures(lambda name: plain(HELLO, name), status_of, retries=retries))
    scenario("G")(lambda: broken_off(lambda: plain(HELLO, "dies")))
    scenario("I")(lambda: same("server is up" in answer(PING, ("ping", {})), True))


Call = tuple[str, dict[str, str]]
OSLO: Call = ("get_weather", {"city": "Oslo"})
ROME: Call = ("get_weather", {"city": "Rome"})
NOTES: Call = ("read_file", {"path": "notes.txt"})
called: list[Call] = []
"""The calls that reached the tools below since it was last cleared."""


def get_weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: the city's name
    """
    called.append(("get_weather", {"city": city}))
    return f"{city}: 7 degrees"


def read_file(path: str) -> str:
    """Reads a text file.

    Args:
        path: where it is
    """
    called.append(("read_file", {"path": path}))
    return Path(path).read_text()


def ping() -> str:
    """Says whether the server is up."""
    called.append(("ping", {}))
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


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and what it was raised from or while handling."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def status_of(error: BaseException) -> int | None:
    """The status of the error, or of what it comes from."""
    found = (getattr(part, "status_code", None) or getattr(part, "status", None) for part in causes(error))
    return next((int(status) for status in found if status), None)


def not_read(answer: str) -> str:
    """Scenario H for clients that leave thinking out: what they give is the answer alone."""
    same(answer.strip(), "Four.")
    return "the answer only: it does not read the thinking of chat completions"


def broken_off(work: Callable[[], Any]) -> str:
    """Scenario G: what becomes of a stream whose engine dies, which the client must not take for an answer."""
    error = failure(work)
    if "broke off" not in " ".join(map(str, causes(error))):
        raise AssertionError(f"{error!r} instead of our message") from error
    return f"{type(error).__name__} with our message"


def attempts(model: str) -> int:
    """How often the engine was asked for this model since the last time."""
    engine = os.environ["TOOLWIRE_ENGINE"]
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{engine}/asked/{model}") as answer:
        return int(json.load(answer)["asked"])


def meets_failures(ask: Callable[[str], Any], status_of: Callable[[Any], int | None], *, retries: bool = True) -> str:
    """Scenario F: each status arrives as the client's own error, and an engine that is busy twice is asked until it is well.

    Unless the client never `retries`.
    """
    told = []
    for model, status in (("fails-400", 400), ("fails-429", 429), ("fails-500", 502)):
        attempts(model)
        error = failure(lambda model=model: ask(model))
        same(status_of(error), status)
        told.append(f"{status} {type(error).__name__} after {attempts(model)}")
    attempts("busy")
    if not retries:
        return ", ".join([*told, f"503 {type(failure(lambda: ask('busy'))).__name__} after {attempts('busy')}"])
    ask("busy")
    return ", ".join([*told, f"503 twice: well after {attempts('busy')}"])
