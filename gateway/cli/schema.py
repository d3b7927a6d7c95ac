"""`toolwire schema`: the JSON Schema of toolwire.yaml, for editors."""

import argparse
import json
import sys


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's command line."""
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the schema."""
    sys.stdout.write(text())


def text() -> str:
    """The schema as it stands in docs/toolwire.schema.json."""
    from gateway.settings import json_schema

    return json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"
