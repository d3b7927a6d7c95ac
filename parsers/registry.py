"""Every module in `formats` is a family; nothing else registers one."""

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from . import formats
from .description import Format
from .errors import ParsersError, UnknownFormat
from .fold import fold
from .message import Message
from .parser import Parser
from .round_trip import same, tools_of


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Format]:
    table: dict[str, Format] = {}
    for module in sorted(pkgutil.iter_modules(formats.__path__), key=lambda m: m.name):
        found = importlib.import_module(f"{formats.__name__}.{module.name}").FORMAT
        table[found.name] = found
    return table


@lru_cache(maxsize=1)
def _by_alias() -> dict[str, Format]:
    table = dict(_by_name())
    for fmt in _by_name().values():
        for alias in fmt.aliases:
            if table.setdefault(alias, fmt) is not fmt:
                raise ParsersError(f"{alias} is an alias of {fmt.name} and a name of {table[alias].name}")
    return table


def names() -> tuple[str, ...]:
    """The canonical names, in alphabetical order."""
    return tuple(_by_name())


def get(name: str | Format) -> Format:
    """The format with this name or alias; UnknownFormat names the nearest."""
    if isinstance(name, Format):
        return name
    table = _by_alias()
    key = name.strip()
    found = table.get(key) or table.get(key.lower().replace("-", "_"))
    if found is not None:
        return found
    near = difflib.get_close_matches(key, table, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UnknownFormat(f"there is no format {name!r}{hint} (known: {', '.join(names())})")


def detect(render: Callable[[Message], str | None], messages: Sequence[Message]) -> list[str]:
    """The formats that give back the calls of every message from what `render` writes for it; best first.

    A format that also gives back content and reasoning comes before one that does not. `render` gives None for a message
    that cannot be written; that message then says nothing.
    """
    scored: list[tuple[int, str]] = []
    texts = [(message, text) for message in messages if (text := render(message)) is not None]
    for name, fmt in _by_name().items():
        results = [_reads(fmt, text, message) for message, text in texts]
        if results and all(result > 0 for result in results):
            scored.append((-sum(results), name))
    return [name for _, name in sorted(scored)]


def _reads(fmt: Format, text: str, message: Message) -> int:
    """0: other calls; 1: the calls, by the value of their arguments; 2: content and reasoning as well."""
    parser = Parser(fmt, tools=tools_of(message.tool_calls))
    got = fold(parser.feed(text) + parser.finish("stop"))
    if not same(replace(got, content=None, reasoning=None), replace(message, content=None, reasoning=None)):
        return 0
    same_text = (got.content or "").strip() == (message.content or "").strip()
    return 1 + (same_text and (got.reasoning or "").strip() == (message.reasoning or "").strip())
