"""`toolwire check`: whether the chat templates of a configuration, or one, can serve tool calls, and what to do where not."""

import argparse
import asyncio
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from . import USAGE, Failure
from .configuration import add_options, read_settings

if TYPE_CHECKING:
    from gateway.checking import Report

WIDTH = 110
MARKS = {"pass": "ok", "warn": "WARN", "fail": "FAIL"}


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's command line."""
    add_options(parser)
    parser.add_argument(
        "--template", metavar="FILE", help="check this template (a file, toolwire/NAME, or a folder of .jinja files)"
    )
    parser.add_argument("--tokenizer", metavar="DIR", help="tokenizer folder or hub id, with or without --template")
    parser.add_argument(
        "--format", default="auto", metavar="NAME", help="the tool-call format it must speak (default: auto, found)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a template instead of tables")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the reports; 1 when something fails."""
    failed = False
    brief = options.template is not None and Path(options.template).is_dir()
    for report in _reports(options):
        shown = json.dumps(report.as_json(), ensure_ascii=False) + "\n" if options.json else _table(report, brief=brief)
        sys.stdout.write(shown)
        sys.stdout.flush()
        failed = failed or report.verdict == "fail"
    return int(failed)


def _reports(options: argparse.Namespace) -> Iterator["Report"]:
    from gateway.errors import GatewayError

    try:
        if options.template or options.tokenizer:
            for template in _templates(options.template):
                yield _one(options, template)
        else:
            yield from _configured(options)
    except GatewayError as error:
        raise Failure(str(error)) from None


def _templates(template: str | None) -> list[str | None]:
    """The template, or all of a folder's."""
    if template is None or not Path(template).is_dir():
        return [template]
    found = sorted(str(path) for path in Path(template).glob("*.jinja"))
    if not found:
        raise Failure(f"--template: there is no .jinja file in {template}", code=USAGE)
    return [*found]


def _one(options: argparse.Namespace, template: str | None) -> "Report":
    import parsers
    from gateway.checking import Subject, broken, check
    from gateway.rendering import Renderer
    from gateway.rendering.loading import load

    try:
        wanted = None if options.format == "auto" else parsers.get(options.format)
    except parsers.UnknownFormat as error:
        raise Failure(f"--format: {error}", code=USAGE) from None
    name = template or options.tokenizer
    templates, vocabulary = load(options.tokenizer, template)
    unusable = next(filter(None, (broken(name, text) for text in templates.values())), None)
    return unusable or check(Subject(name, Renderer(templates, vocabulary), wanted))


def _configured(options: argparse.Namespace) -> Iterator["Report"]:
    from gateway.app.assembly import check_entry

    if options.format != "auto":
        raise Failure("--format is for --template; a configured model's format is its parser", code=USAGE)
    for model in read_settings(options).models:
        yield asyncio.run(check_entry(model))


def _table(report: "Report", *, brief: bool) -> str:
    """For people: what was seen, and what to do. `brief`: only what did not pass."""
    head = f"{report.template}\n  format {report.format or 'none'}, verdict {report.verdict}\n\n"
    told = [check for check in report.checks if not brief or check.status != "pass"]
    rows = "".join(_row(check.id, MARKS[check.status], check.message, check.remedy) for check in told)
    return head + rows + "\n" if rows else head


def _row(check_id: str, mark: str, message: str, remedy: str) -> str:
    lines = textwrap.wrap(message, WIDTH) + [
        f"-> {line}" if not at else f"   {line}" for at, line in enumerate(textwrap.wrap(remedy, WIDTH))
    ]
    return "".join(f"  {check_id if not at else '':4}  {mark if not at else '':4}  {line}\n" for at, line in enumerate(lines))
