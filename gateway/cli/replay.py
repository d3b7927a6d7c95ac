"""`toolwire replay`: recorded turns once more, through today's parser or another, and what is different now."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import USAGE, Failure

if TYPE_CHECKING:
    from gateway.pipeline.recording.compare import Difference
    from gateway.rendering import Renderer
    from parsers import Format

LONGEST = 300
"""Characters of a value that are shown to people; --json shows all."""
BEGINNING = b'{"toolwire":'
Json = dict[str, Any]


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's command line."""
    parser.add_argument("file", metavar="FILE", help="recorded turns, as `recorder` writes them; - for stdin")
    parser.add_argument("--format", metavar="NAME", help="read them in this format instead of the recorded one")
    parser.add_argument(
        "--template",
        metavar="TEMPLATE",
        help="let this template (a file or toolwire/NAME) open the turns instead of the recorded one",
    )
    parser.add_argument("--tokenizer", metavar="DIR", help="tokenizer folder or hub id, with or without --template")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="one JSON object a turn, also for those that are the same")
    shape.add_argument("--accept", action="store_true", help="print the turns with what becomes of them now as what is recorded")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play all turns; 1 when something is different."""
    import parsers

    try:
        fmt = parsers.get(options.format) if options.format else None
    except parsers.UnknownFormat as error:
        raise Failure(f"--format: {error}", code=USAGE) from None
    renderer = _renderer(options)
    played = different = 0
    for place, record in _records(options.file):
        found = _played(record, place, fmt, renderer)
        played += 1
        different += not found["same"]
        sys.stdout.write(_written(found, record, options))
        sys.stdout.flush()
    if not played:
        raise Failure(f"{options.file}: no recorded turns in it", code=USAGE)
    if not (options.json or options.accept):
        sys.stdout.write(f"{played} turns played, {different} different\n")
    return int(different > 0 and not options.accept)


def _written(found: Json, record: Json, options: argparse.Namespace) -> str:
    """What is printed of one turn."""
    if options.accept:
        plan = record["plan"] if found["opening"] is None else {**record["plan"], "opening": found["opening"]}
        accepted = {**record, "format": found["format"], "plan": plan, "outcome": found["now"]}
        return json.dumps(accepted, separators=(",", ":")) + "\n"
    if options.json:
        return _line(found)
    return "" if found["same"] else _shown(found)


def _renderer(options: argparse.Namespace) -> "Renderer | None":
    if not (options.template or options.tokenizer):
        return None
    from gateway.errors import GatewayError
    from gateway.rendering import Renderer

    try:
        return Renderer.load(options.tokenizer, options.template)
    except GatewayError as error:
        raise Failure(str(error), code=USAGE) from None


def _records(file: str) -> Iterator[tuple[str, Json]]:
    """Each line with the place where it stands."""
    name = "stdin" if file == "-" else file
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as lines:
            for number, line in enumerate(lines, 1):
                place = f"{name}:{number}"
                if _is_cut(line):
                    sys.stderr.write(f"toolwire: {place}: left out, as it is cut short: its gateway was stopped while it wrote\n")
                elif line.strip():
                    yield place, _record(line, place)
    except OSError as error:
        raise Failure(f"{name}: {error.strerror or error}; give a file of recorded turns", code=USAGE) from None


def _is_cut(line: bytes) -> bool:
    """Whether it is the beginning of a record."""
    if not line.startswith(BEGINNING):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def _record(line: bytes, place: str) -> Json:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Failure(f"{place}: not JSON ({error}); give a file of recorded turns", code=USAGE) from None
    if not isinstance(record, dict):
        raise Failure(f"{place}: not a JSON object; give a file of recorded turns", code=USAGE)
    return record


def _played(record: Json, place: str, fmt: "Format | None", renderer: "Renderer | None") -> Json:
    """The turn's outcomes, then and now."""
    from gateway.errors import GatewayError
    from gateway.pipeline.recording.compare import differences
    from gateway.pipeline.recording.play import NotRecorded, opening_with, play
    from parsers import UnknownFormat

    try:
        opening = opening_with(renderer, record) if renderer is not None else None
        now = play(record, fmt, opening)
        found = differences(record["outcome"], now)
    except (NotRecorded, UnknownFormat) as error:
        raise Failure(f"{place}: {error}", code=USAGE) from None
    except (KeyError, TypeError) as error:
        raise Failure(f"{place}: it is not a recorded turn ({type(error).__name__}: {error})", code=USAGE) from None
    except GatewayError as error:
        raise Failure(f"{place}: the conversation cannot be rendered: {error}") from None
    facts = {key: record.get(key) for key in ("request_id", "model", "attempt", "verdict")}
    format_now = record["format"] if fmt is None else fmt.name
    return {
        "place": place,
        **facts,
        "format": format_now,
        "same": not found,
        "differences": found,
        "now": now,
        "opening": opening,
    }


def _line(found: Mapping[str, Any]) -> str:
    told = {**found, "differences": [_as_json(difference) for difference in found["differences"]]}
    return json.dumps(told, ensure_ascii=False) + "\n"


def _as_json(difference: "Difference") -> Json:
    return {"place": difference.place, "recorded": difference.recorded, "now": difference.now}


def _shown(found: Mapping[str, Any]) -> str:
    """For people."""
    verdict = found["verdict"] or {}
    outcome = " ".join(str(part) for part in (verdict.get("status"), verdict.get("code")) if part)
    head = f"{found['place']}  {found['request_id'] or '-'}  {found['model']}  {found['format']}  {outcome}\n"
    lines = [f"  {each.place}\n    - {_short(each.recorded)}\n    + {_short(each.now)}\n" for each in found["differences"]]
    return head + "".join(lines)


def _short(value: Any) -> str:
    text = "(nothing)" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"
