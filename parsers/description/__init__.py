"""The vocabulary in which a family's turn is described, once, for parser, writer, grammars and template check.

A description is a tree. Its leaves are markers (exact text) and regions (stretches read by one reader). It has two readings:
the *strict* one, which the writer and the grammars follow, writes every marker and every gap and takes the first of several
alternatives; the *lenient* one, which the parser follows, skips any whitespace between framing leaves, accepts all alternatives
and all spellings, and lets soft nodes be missing.
"""

from dataclasses import dataclass

from .nodes import (
    Arguments,
    Bare,
    Call,
    CallId,
    Either,
    ElementArguments,
    Filler,
    Gap,
    Interleaved,
    JsonArguments,
    JsonCall,
    Leaf,
    Many,
    Marker,
    Messages,
    Name,
    NameKeyedCall,
    Node,
    NumberedName,
    Optional,
    PythonCall,
    QuotedArguments,
    Said,
    Seq,
    Soft,
    TaggedArguments,
    Text,
    ToolName,
    Unwritten,
)
from .words import (
    array_end,
    bare,
    call,
    call_id,
    content,
    either,
    gap,
    interleaved,
    json_arguments,
    json_call,
    led,
    many,
    marker,
    optional,
    python_call,
    reasoning,
    said,
    seq,
    soft,
    surplus,
    tagged_arguments,
    thinking,
    tool_name,
    unwritten,
)

__all__ = [
    "Arguments",
    "Bare",
    "Call",
    "CallId",
    "Either",
    "ElementArguments",
    "Filler",
    "Format",
    "Gap",
    "Interleaved",
    "JsonArguments",
    "JsonCall",
    "Leaf",
    "Many",
    "Marker",
    "Messages",
    "Name",
    "NameKeyedCall",
    "Node",
    "NumberedName",
    "Optional",
    "PythonCall",
    "QuotedArguments",
    "Said",
    "Seq",
    "Soft",
    "TaggedArguments",
    "Text",
    "ToolName",
    "Unwritten",
    "array_end",
    "bare",
    "call",
    "call_id",
    "content",
    "either",
    "gap",
    "interleaved",
    "json_arguments",
    "json_call",
    "led",
    "many",
    "marker",
    "optional",
    "python_call",
    "reasoning",
    "said",
    "seq",
    "soft",
    "surplus",
    "tagged_arguments",
    "thinking",
    "tool_name",
    "unwritten",
]


@dataclass(frozen=True, slots=True, eq=False)
class Format:
    """A family's turn and what surrounds it. Each is only equal to itself: much is kept by format, and to hash a whole turn takes
    as long as to read one.

    `stop`: texts of the tokens that end a turn. `template`: file name of our chat template for it. `models`: for whom it is.
    `ids`: how the model names its calls, for people. `sources`: where the facts come from.
    `foreign`: texts of tokens that stand in other turns than the assistant's and say nothing in one; dropped with a notice.
    `thinks_in_prompt`: the prompts of these models open or close the thinking, so a turn without its opening may begin inside it.
    """

    name: str
    turn: Node
    aliases: tuple[str, ...] = ()
    template: str | None = None
    stop: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    models: str = ""
    ids: str = "none"
    parallel: bool = True
    thinks_in_prompt: bool = False
    sources: tuple[str, ...] = ()
