"""The words in which descriptions are written: short names for the nodes."""

from .nodes import (
    Bare,
    Call,
    CallId,
    Either,
    Gap,
    Interleaved,
    JsonArguments,
    JsonCall,
    Many,
    Marker,
    Node,
    Optional,
    PythonCall,
    Said,
    Seq,
    Soft,
    TaggedArguments,
    Text,
    ToolName,
    Unwritten,
)

content = Text("content")
reasoning = Text("reasoning")
tool_name = ToolName()
call_id = CallId()
json_arguments = JsonArguments()
json_call = JsonCall()
python_call = PythonCall()
array_end = Either((Marker("]"), Marker(",]", (", ]", ",\n]"), repairs="a trailing comma")))
"""The end of an array of calls."""


def marker(text: str, *spellings: str) -> Marker:
    """Exact text, and other spellings that are read as the same."""
    return Marker(text, spellings)


def surplus(text: str) -> Marker:
    """Text that a model writes once too often; reading it is a repair."""
    return Marker(text, repairs=f"a surplus {text}")


def led(text: str, *spellings: str) -> Marker:
    """Exact text that counts only behind other framing or at the beginning of a turn."""
    return Marker(text, spellings, led=True)


def gap(text: str) -> Gap:
    """Whitespace: any when read, this when written."""
    return Gap(text)


def seq(*nodes: Node) -> Node:
    """The nodes, one after the other."""
    return nodes[0] if len(nodes) == 1 else Seq(nodes)


def optional(*nodes: Node) -> Optional:
    """The nodes, or nothing."""
    return Optional(seq(*nodes))


def soft(*nodes: Node) -> Soft:
    """The nodes, which models sometimes leave out."""
    return Soft(seq(*nodes))


def unwritten(*nodes: Node) -> Unwritten:
    """The nodes, which some models add."""
    return Unwritten(seq(*nodes))


def either(*nodes: Node) -> Either:
    """One of the nodes; the first is the written one."""
    return Either(nodes)


def many(*nodes: Node, separator: str = "", spellings: tuple[str, ...] = (), tight: bool = False) -> Many:
    """The nodes once or more, with a separator."""
    return Many(seq(*nodes), separator, spellings, tight)


def call(*nodes: Node) -> Call:
    """The leaves of one call."""
    return Call(seq(*nodes))


def bare(*nodes: Node) -> Bare:
    """Calls that no marker announces."""
    return Bare(seq(*nodes))


def interleaved(text: Text, *nodes: Node) -> Interleaved:
    """Free text with the nodes embedded."""
    return Interleaved(text, seq(*nodes))


def tagged_arguments(
    header: str, close: str, *, trim: bool = False, joint: str = "\n", unwrap: tuple[str, ...] = ()
) -> TaggedArguments:
    """Arguments as tagged text."""
    return TaggedArguments(header, close, trim, joint, unwrap)


def said(opener: Marker, closer: Marker) -> Said:
    """Content between two markers."""
    return Said(opener, closer)


def thinking(opener: str, closer: str, *, inner: str = "\n", after: str = "\n\n", interruptible: bool = False) -> Optional:
    """The reasoning block that most families share.

    `interruptible`: a call inside it ends it, for families whose models forget the closer.
    """
    end: Node = Marker(closer)
    return optional(Marker(opener), gap(inner), reasoning, gap(inner), Soft(end) if interruptible else end, Gap(after))
