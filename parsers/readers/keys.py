"""The keys of tagged arguments: whether the tool takes them, and those whose first tag is missing, or is that of another call.

GLM models write `<tool_call>run<tool_call>command</arg_key>` and `<tool_call>runcommand</arg_key>` for
`<tool_call>run<arg_key>command</arg_key>`. Such is read where the tools of the request leave one meaning.
"""

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from ..automaton import Position
from ..description import TaggedArguments
from ..message import Tool
from .behind import NAME_LIMIT
from .boundary import space_end
from .tag_table import TagTable, table_of
from .values import knows

if TYPE_CHECKING:
    from ..parser import Parser


@lru_cache(maxsize=4096)
def region_of(position: Position) -> Position | None:
    """The arguments that may come next, where a tag stands on either side of their keys."""
    regions = [region for region in position.openers.values() if isinstance(region.leaf, TaggedArguments)]
    return next((region for region in regions if table_of(region).header_tags), None)


@lru_cache(maxsize=4096)
def key_closer(position: Position) -> str:
    """The tag behind the keys of these arguments; empty where there is none."""
    region = region_of(position)
    return "" if region is None else table_of(region).header_tags[0]


def key_stands(parser: "Parser", table: TagTable, at: int) -> bool | None:
    """Whether a declared argument stands at `at` with the tag behind it and without the one before it; None: it may yet."""
    if not table.header_tags:
        return False
    at = space_end(parser.buffer, at)
    rest = parser.buffer[at : at + NAME_LIMIT]
    waits = False
    for key in _keys(_tool(parser)):
        text = key + table.header_tags[0]
        if rest.startswith(text):
            return True
        waits = waits or text.startswith(rest)
    return None if waits and not parser.reason else False


def tool_before_key(parser: "Parser", written: str) -> str | None:
    """The tool whose name and first argument are this text together; None where no tool's are, or several's."""
    tools = parser.calls.tools or {}
    fits = [name for name, tool in tools.items() if written.startswith(name) and written[len(name) :].strip() in _keys(tool)]
    return fits[0] if len(fits) == 1 else None


def is_foreign(parser: "Parser", key: str, *, slipped: bool) -> bool:
    """Whether the tool says which arguments it takes, and this is none of them. Behind a slip it must be a declared one."""
    tool = _tool(parser)
    if tool is None or not tool.parameters.get("properties") or knows(tool, key.strip()):
        return False
    named = tool.parameters.get("additionalProperties") or key.strip() in (tool.parameters.get("required") or ())
    return slipped or not named


def _tool(parser: "Parser") -> Tool | None:
    """The tool of the call that is being read."""
    calls = parser.calls
    return calls.tool or (calls.tools or {}).get(calls.declared(calls.name or "") or "")


def _keys(tool: Tool | None) -> Collection[str]:
    properties = tool.parameters.get("properties") if tool is not None else None
    return properties if isinstance(properties, Mapping) else ()
