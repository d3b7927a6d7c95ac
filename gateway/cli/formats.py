"""`toolwire formats`: what can be parsed, and under which names."""

import argparse
import json
import sys

import parsers


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's command line."""
    parser.add_argument("--json", action="store_true", help="one JSON array instead of a table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the list."""
    formats = [parsers.get(name) for name in parsers.names()]
    if options.json:
        listed = [{"name": f.name, "aliases": list(f.aliases), "template": f.template, "stop": list(f.stop)} for f in formats]
        sys.stdout.write(json.dumps(listed, ensure_ascii=False, indent=1) + "\n")
        return
    sys.stdout.write(
        table([("FORMAT", "TEMPLATE", "ALIASES"), *((f.name, f.template or "-", ", ".join(f.aliases)) for f in formats)])
    )


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows as columns of their widest cell."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows)
