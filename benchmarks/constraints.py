"""What constraints cost: to build them, and an engine to prepare them, for 1, 10, 50 and 100 strict tools.

python -m benchmarks.constraints --tokenizer FOLDER [--format hermes,qwen3_coder] [--tools 1,10] [--choice required]

`build` is the gateway's own work for new tools, `again` for those it has seen; `prepare` is xgrammar's first compilation for the
vocabulary of the tokenizer (a folder with a tokenizer.json), on one thread, which an engine does once for a set of tools. All
are milliseconds of processor time. Needs xgrammar (extra `grammar`).
"""

import argparse
import importlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import parsers
from gateway.planning import schemas, xgrammar_check
from gateway.planning.built import Wanted, built
from parsers import Tool

FORMATS = "hermes,qwen3_coder,llama3_json,mistral,deepseek_v32,glm47,harmony,kimi_k2"
BYTE_LEVEL = 2
"""How xgrammar calls vocabularies whose tokens spell bytes as letters."""
PROPERTIES: dict[str, Any] = {
    "city": {"type": "string"},
    "days": {"type": "integer", "minimum": 1, "maximum": 16},
    "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    "when": {"type": "string", "format": "date"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "share": {"type": "number"},
    "note": {"type": ["string", "null"]},
    "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
    "place": {
        "type": "object",
        "properties": {"street": {"type": "string"}, "indoors": {"type": "boolean"}},
        "required": ["street", "indoors"],
        "additionalProperties": False,
    },
    "count": {"type": "integer"},
}


def main() -> None:
    options = _options()
    compiler = _compiler(options.tokenizer)
    print(f"{'format':14} {'tools':>5} {'choice':9} {'build':>7} {'again':>7} {'prepare':>8} {'bytes':>8}")
    for name in options.format.split(","):
        for count in map(int, options.tools.split(",")):
            for choice in options.choice.split(","):
                print(_row(compiler, name, count, choice), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", required=True, help="a folder with a tokenizer.json of byte-level tokens")
    parser.add_argument("--format", default=FORMATS)
    parser.add_argument("--tools", default="1,10,50,100")
    parser.add_argument("--choice", default="required,auto")
    return parser.parse_args()


def _compiler(folder: str) -> Any:
    """xgrammar's own compiler for this vocabulary. The classes around it import transformers, which takes seconds."""
    if not xgrammar_check.available():
        raise SystemExit("xgrammar is not installed: pip install 'toolwire[grammar]'")
    described = json.loads((Path(folder) / "tokenizer.json").read_text(encoding="utf-8"))
    ids = {**described["model"]["vocab"], **{token["content"]: token["id"] for token in described["added_tokens"]}}
    tokens = [b""] * (max(ids.values()) + 1)
    for text, number in ids.items():
        tokens[number] = text.encode()
    core = importlib.import_module("xgrammar.base")._core
    return core.GrammarCompiler(core.TokenizerInfo(tokens, BYTE_LEVEL, None, [len(tokens) - 1], False), 1, False, -1)


def _row(compiler: Any, name: str, count: int, choice: Literal["auto", "required"]) -> str:
    fmt, tools = parsers.get(name), [_tool(number) for number in range(count)]

    def build() -> str:
        constraint, problem = built(Wanted(fmt, choice, parallel=True, dialect="structural_tag", opening=""), tools)
        assert constraint is not None, problem
        return schemas.canonical(constraint.value)

    first, text = _timed(build)
    again, _ = _timed(build)
    prepare, _ = _timed(lambda: compiler.compile_structural_tag(text))
    return f"{name:14} {count:5} {choice:9} {first:7.0f} {again:7.0f} {prepare:8.0f} {len(text.encode()):8}"


def _tool(number: int) -> Tool:
    """A strict tool of ten properties that no other has."""
    properties = {f"{key}_{number}": schema for key, schema in PROPERTIES.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return Tool(f"tool_{number}", "Does one thing, and does it well.", schema, strict=True)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    found = work()
    return (time.process_time() - started) * 1000, found


if __name__ == "__main__":
    main()
