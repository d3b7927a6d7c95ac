"""`toolwire formats`: what can be parsed, and under which names."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable

import parsers
from parsers.automaton import reachable
from parsers.description import Text
from parsers.parser import compiled

_TOOL = parsers.Tool("f", parameters={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
_DIALECTS = ("structural_tag", "lark")
_TABLE = ("format", "reasoning", "parallel", "constraint", "aliases")
_PAGE = """# Formats

<!-- Written by `make docs` from the descriptions in parsers/formats: change those. -->

A format is the language in which a model family writes its turns: reasoning, text and tool calls. `parser: auto` chooses it by
the chat template; `parser: <name or alias>` in the configuration sets it.

*reasoning*: `in the turn` where the model opens its thinking itself, `prompt` where the prompt may open or close it.
*ids*: how the model itself names a call. *constraint*: the grammars that can hold decoding to this format, for `tool_choice` and
`strict`: `structural_tag` is what vLLM and SGLang take, `lark` is for llguidance.

"""


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's command line."""
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="one JSON array instead of a table")
    shape.add_argument("--markdown", action="store_true", help="the page of the documentation instead of a table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the list."""
    formats = [parsers.get(name) for name in parsers.names()]
    if options.json:
        sys.stdout.write(json.dumps([_listed(fmt) for fmt in formats], ensure_ascii=False, indent=1) + "\n")
    elif options.markdown:
        sys.stdout.write(page(formats))
    else:
        rows = [tuple(_COLUMNS[column](fmt) or "-" for column in _TABLE) for fmt in formats]
        sys.stdout.write(table([tuple(column.upper() for column in _TABLE), *rows]))


def _listed(fmt: parsers.Format) -> dict[str, object]:
    return {
        "name": fmt.name,
        "aliases": list(fmt.aliases),
        "models": fmt.models,
        "template": fmt.template,
        "stop": list(fmt.stop),
        "reasoning": reasoning(fmt),
        "parallel": fmt.parallel,
        "ids": fmt.ids,
        "constraint": list(constraints(fmt)),
    }


def page(formats: Iterable[parsers.Format]) -> str:
    """The documentation's page of all formats."""
    lines = [f"| {' | '.join(_COLUMNS)} |", "|" + " --- |" * len(_COLUMNS)]
    lines += [f"| {' | '.join(read(fmt).replace('|', chr(92) + '|') for read in _COLUMNS.values())} |" for fmt in formats]
    return _PAGE + "\n".join(lines) + "\n"


def reasoning(fmt: parsers.Format) -> str:
    """Where the reasoning of this format begins; nothing if it has none."""
    thinks = any(position.leaf == Text("reasoning") for position in reachable(compiled(fmt)))
    return ("prompt" if fmt.thinks_in_prompt else "in the turn") if thinks else ""


def constraints(fmt: parsers.Format) -> tuple[str, ...]:
    """The dialects of grammars in which this format can be said."""
    return tuple(dialect for dialect in _DIALECTS if _can_be_said(fmt, dialect))


def _can_be_said(fmt: parsers.Format, dialect: str) -> bool:
    try:
        return parsers.constraint(fmt, [_TOOL], "required", dialect=dialect) is not None
    except parsers.ConstraintError:
        return False


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows as columns of their widest cell."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows)


_COLUMNS: dict[str, Callable[[parsers.Format], str]] = {
    "format": lambda fmt: fmt.name,
    "aliases": lambda fmt: ", ".join(fmt.aliases),
    "models": lambda fmt: fmt.models,
    "reasoning": reasoning,
    "parallel": lambda fmt: "yes" if fmt.parallel else "one call",
    "ids": lambda fmt: fmt.ids,
    "constraint": lambda fmt: ", ".join(constraints(fmt)) or "none",
}
