"""`toolwire render`: the prompt that a conversation becomes, and what it opens of the assistant's turn."""

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from . import USAGE, Failure
from .configuration import add_options, read_settings

if TYPE_CHECKING:
    from gateway.rendering import Renderer


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's command line."""
    add_options(parser)
    parser.add_argument("--name", help="which configured model's template (default: the first)")
    parser.add_argument("--template", metavar="TEMPLATE", help="a template file or toolwire/NAME instead of a configured model's")
    parser.add_argument("--tokenizer", metavar="DIR", help="tokenizer folder or hub id, with or without --template")
    parser.add_argument("--text", action="store_true", help="the bare prompt instead of one JSON line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Render the chat on stdin: a request body with messages and tools, or an array of messages."""
    from gateway.errors import GatewayError
    from gateway.rendering.preview import preview

    chat = _chat()
    try:
        shown = preview(_renderer(options), chat)
    except GatewayError as error:
        raise Failure(str(error)) from None
    sys.stdout.write(shown["text"] if options.text else json.dumps(shown, ensure_ascii=False) + "\n")


def _chat() -> dict[str, Any]:
    try:
        chat = json.loads(sys.stdin.buffer.read())
    except (ValueError, RecursionError) as error:
        raise Failure(f"stdin is not JSON ({error}); give a request body or an array of messages", code=USAGE) from None
    chat = {"messages": chat} if isinstance(chat, list) else chat
    if not isinstance(chat, dict):
        raise Failure('expected {"messages": [...], "tools": [...]} or an array of messages on stdin', code=USAGE)
    return chat


def _renderer(options: argparse.Namespace) -> "Renderer":
    from gateway.rendering import Renderer

    if options.template or options.tokenizer:
        return Renderer.load(options.tokenizer, options.template)
    return _configured(options)


def _configured(options: argparse.Namespace) -> "Renderer":
    """The renderer of a configured model; engines are asked only for what the configuration leaves open."""
    from gateway.app.assembly import renderer_of

    settings = read_settings(options)
    names = {name: model for model in settings.models for name in (model.name, *model.aliases)}
    if options.name and options.name not in names:
        raise Failure(f"no configured model is called {options.name!r}; there are: {', '.join(names)}", code=USAGE)
    return renderer_of(names[options.name] if options.name else settings.models[0])[0]
