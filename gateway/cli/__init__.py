"""The command `toolwire`. Each verb imports what it needs only when it is called, so that `parse` and `formats` start at once."""

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

USAGE, FAILED = 2, 1
VERBS = {
    "serve": "start the gateway",
    "parse": "read raw model turns: text to content, reasoning and tool calls",
    "formats": "list the tool-call formats",
    "check": "say whether chat templates can serve tool calls, and what to do where not",
    "replay": "play recorded turns once more, and show what is different now",
    "render": "show the prompt that a conversation becomes",
    "keys": "create, list and revoke API keys",
    "schema": "print the JSON Schema of the configuration file",
}


class Failure(Exception):
    """What went wrong and what to do, in one line for the person at the terminal."""

    def __init__(self, message: str, *, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; the exit code is 0, 1 (it failed) or 2 (it was called wrongly)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    verb = next((word for word in words if word in VERBS), None)
    options = _parser(verb).parse_args(words)
    try:
        return int(options.run(options) or 0)
    except Failure as failure:
        _complain(str(failure))
        return failure.code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
        return 0
    except KeyboardInterrupt:
        return 130


def _parser(verb: str | None) -> argparse.ArgumentParser:
    """The command line, with the options of one verb only: the others' modules are not imported."""
    parser = argparse.ArgumentParser(prog="toolwire", description="Exact tool calling on open models, behind OpenAI's API.")
    parser.add_argument("--version", action=_Version, help="print the version")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, text in VERBS.items():
        own = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == verb:
            importlib.import_module(f"{__name__}.{name}").options(own)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **more)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("toolwire")
        except PackageNotFoundError:
            found = "(not installed)"
        sys.stdout.write(f"toolwire {found}\n")
        parser.exit()


def _complain(message: str) -> None:
    sys.stderr.write("".join(f"toolwire: {line}\n" for line in message.splitlines()))
