"""`toolwire parse`: raw model turns in, what they say out, one JSON line each."""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import parsers

from . import USAGE, Failure

TOOLS_FILE = "give a file with a JSON array as in OpenAI's `tools`"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's command line."""
    parser.add_argument("--format", metavar="NAME", help="format name or alias (see `toolwire formats`)")
    parser.add_argument("--tools", metavar="FILE", type=Path, help="JSON array of tools; without it any name is a call")
    parser.add_argument("--opening", default="", metavar="TEXT", help=r"what the chat template wrote of the turn ('<think>\n')")
    parser.add_argument("--finish", default="stop", metavar="REASON", help="how the engine ended: stop (default) or length")
    parser.add_argument("--events", action="store_true", help="the list of events instead of the message")
    parser.add_argument(
        "--jsonl", action="store_true", help="read cases: one JSON object per line with format, tools, opening, deltas, finish"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Parse stdin."""
    if options.jsonl:
        return _cases(sys.stdin.buffer, events=options.events)
    if not options.format:
        raise Failure("name the format: --format NAME (see `toolwire formats`)", code=USAGE)
    tools = _tools(options.tools) if options.tools else None
    opening = options.opening.replace("\\n", "\n")
    case = {"format": options.format, "tools": tools, "opening": opening, "deltas": [_stdin()], "finish": options.finish}
    try:
        _write(_parsed(case, events=options.events))
    except parsers.ParsersError as error:
        raise Failure(str(error), code=USAGE) from None
    return 0


def _stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _tools(path: Path) -> list[Any]:
    try:
        tools = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"--tools {path}: {error.strerror or error}; {TOOLS_FILE}", code=USAGE) from None
    except (ValueError, RecursionError) as error:
        raise Failure(f"--tools {path}: not JSON ({error}); {TOOLS_FILE}", code=USAGE) from None
    if not _are_tools(tools):
        raise Failure(f"--tools {path}: not tools; {TOOLS_FILE}", code=USAGE)
    return list(tools)


def _are_tools(tools: Any) -> bool:
    """An array of objects, OpenAI's or the flat inner ones, whose parameters are objects where there are any."""
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        return False
    functions = [tool.get("function") or tool for tool in tools]
    return all(isinstance(function, dict) and isinstance(function.get("parameters") or {}, dict) for function in functions)


def _cases(lines: Iterable[bytes], *, events: bool) -> int:
    """Answer every line with one line; a case that cannot be read gets an `error` and makes the exit code 1."""
    failed = False
    for line in lines:
        if not line.strip():
            continue
        try:
            answer = _parsed(_case(line), events=events)
        except (ValueError, RecursionError, parsers.ParsersError) as error:
            failed, answer = True, {"error": str(error)}
        _write(answer)
    return 1 if failed else 0


def _case(line: bytes) -> dict[str, Any]:
    case = json.loads(line)
    if not isinstance(case, dict) or not isinstance(case.get("format"), str):
        raise ValueError("expected an object with 'format' and 'deltas'")
    deltas = case.get("deltas")
    if not isinstance(deltas, list) or not all(isinstance(delta, str) for delta in deltas):
        raise ValueError("'deltas' must be an array of strings")
    if case.get("tools") is not None and not _are_tools(case["tools"]):
        raise ValueError("'tools' must be an array of tools as in OpenAI's `tools`, or null when they are not known")
    for key in ("opening", "finish"):
        if not isinstance(case.get(key) or "", str):
            raise ValueError(f"'{key}' must be a string")
    return case


def _parsed(case: dict[str, Any], *, events: bool) -> Any:
    parser = parsers.Parser(parsers.get(case["format"]), tools=case.get("tools"), opening=case.get("opening") or "")
    found = [event for delta in case["deltas"] for event in parser.feed(delta)]
    found += parser.finish(case.get("finish") or "stop")
    return [_event(event) for event in found] if events else _message(found)


def _event(event: parsers.Event) -> dict[str, Any]:
    return {"event": type(event).__name__, **asdict(event)}


def _message(events: Sequence[parsers.Event]) -> dict[str, Any]:
    message = parsers.fold(events)
    return {
        "content": message.content,
        "reasoning": message.reasoning,
        "tool_calls": [asdict(call) for call in message.tool_calls],
        "notices": [asdict(notice) for notice in message.notices],
        "finish": next(event.reason for event in events if isinstance(event, parsers.Finish)),
    }


def _write(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
