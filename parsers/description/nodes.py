"""The nodes of a description: leaves, which are markers and regions, and what holds them together."""

from dataclasses import dataclass
from typing import Literal


# ---- leaves: framing
@dataclass(frozen=True, slots=True)
class Marker:
    """Exact text. `spellings` are further texts that models write in its place. Whitespace at its ends is a gap when read.

    `repairs`: reading it puts a slip of the model right; this says which. `led`: it stands behind other framing or at the
    beginning of a turn, not in the midst of free text, where its text is text. `whole_line`: the line break that it ends in
    must be there.
    """

    text: str
    spellings: tuple[str, ...] = ()
    repairs: str = ""
    led: bool = False
    whole_line: bool = False

    def texts(self) -> tuple[str, ...]:
        """What is looked for in a turn, without whitespace at the ends."""
        if self.whole_line:
            return (self.text, *self.spellings)
        return tuple(dict.fromkeys(core for text in (self.text, *self.spellings) if (core := text.strip())))


@dataclass(frozen=True, slots=True)
class Gap:
    """Any whitespace when read, exactly `text` when written."""

    text: str


# ---- leaves: regions
@dataclass(frozen=True, slots=True)
class Text:
    """Free text of one channel."""

    channel: Literal["content", "reasoning"]


@dataclass(frozen=True, slots=True)
class ToolName:
    """The name of the tool, up to the marker that follows. `prefix` is text before the name that may be missing.

    `word`: white space ends the name as well. `spaced`: a namespace and a dot or colon may stand before the declared name.
    `escaped`: `&amp;` and `&quot;` stand in it for the characters they name.
    """

    prefix: str = ""
    word: bool = False
    spaced: bool = False
    escaped: bool = False


@dataclass(frozen=True, slots=True)
class NumberedName:
    """The name of the tool inside the model's id for the call: `prefix` name `:` number, as written and as read.

    The whole is the call's id. Models leave the prefix out, and the number; or all but the number, which says enough where there
    is but one tool.
    """

    prefix: str

    def name_of(self, written: str) -> str:
        """The tool's name in an id."""
        name, colon, number = written.removeprefix(self.prefix).rpartition(":")
        return name if colon and number.isdigit() else written.removeprefix(self.prefix)

    def id_of(self, name: str, number: int) -> str:
        """The id of the call with this number."""
        return f"{self.prefix}{name}:{number}"


@dataclass(frozen=True, slots=True)
class CallId:
    """The model's own id for the call, up to the marker that follows. `sample` shows its form to the writer."""

    sample: str = "0"


@dataclass(frozen=True, slots=True)
class Filler:
    """Short text that nothing comes of, up to the marker that follows. It is written as the number of the call in its turn,
    counted from `first`."""

    first: int = 1


@dataclass(frozen=True, slots=True)
class JsonArguments:
    """The arguments as one JSON object; it ends by its own structure."""


@dataclass(frozen=True, slots=True)
class JsonCall:
    """A whole call as one JSON object, keys in any order; the first of each tuple is the written one.

    `needs_arguments`: without an arguments key it is no call (for formats where no marker announces one).
    `call_id`: the key of the model's own id, which is written before the name, as text; none is written without it.
    """

    name: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments", "parameters")
    needs_arguments: bool = False
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class NameKeyedCall:
    """A call as a JSON object with one key, the tool's name, whose value is the arguments."""


@dataclass(frozen=True, slots=True)
class TaggedArguments:
    """Arguments as tagged text, each `header` value `close`.

    `header` holds `{key}`, and where the format itself says what a value is `{string}` (`true` for text, `false` for JSON)
    or `{type}` (a type of JSON Schema's); spaces in it stand for any whitespace and its quotes may be missing. `trim`: one
    newline on either side of a value is framing; without it values are verbatim. `joint` is written between two arguments
    and after the last. `unwrap` are keys that models wrap all arguments in; they are undone unless the tool declares such a
    property.
    `aside`: a text with `{type}` that may stand before the header's last tag; it is not written. `spaces`: texts that models
    write for the header's spaces. `escaped`: `&amp;` and `&quot;` stand in a key for the characters they name. `cdata`: a value
    with `<`, `&` or a newline in it stands between `<![CDATA[` and `]]>`. `declared`: a first argument that the tool does not
    declare shows that this is no call.
    """

    header: str
    close: str
    trim: bool = False
    joint: str = "\n"
    unwrap: tuple[str, ...] = ()
    aside: str = ""
    spaces: tuple[str, ...] = ()
    escaped: bool = False
    cdata: bool = False
    declared: bool = False

    @property
    def marked(self) -> bool:
        """Whether the header says what a value is."""
        return "{string}" in self.header or "{type}" in self.header

    @property
    def keyed_close(self) -> str:
        """`close` where models repeat the header's key in it, such as `</parameter={key}>`; empty where they cannot."""
        header = self.header.strip()
        keyed = f"</{header[1:]}"
        return keyed if header.count("<") == 1 and not self.marked and keyed.startswith(self.close.strip()[:-1]) else ""


@dataclass(frozen=True, slots=True)
class ElementArguments:
    """Arguments as nested elements: `prefix<key>`, text or elements, `prefix</key>`; the items of a list are `item` elements."""

    prefix: str


@dataclass(frozen=True, slots=True)
class QuotedArguments:
    """Arguments as `{key:value,...}`: keys bare, strings verbatim between two `quote`s, `true`, `false`, `null` and numbers bare,
    objects and arrays of these, no white space."""

    quote: str


@dataclass(frozen=True, slots=True)
class PythonCall:
    """`name(key=literal, ...)`; literals are Python's or JSON's."""


# ---- inner nodes
@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other."""

    nodes: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Optional:
    """May be missing; written when the message has something for it."""

    node: "Node"


@dataclass(frozen=True, slots=True)
class Soft:
    """Always written, yet models leave it out."""

    node: "Node"


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Read where models write it, never written by us."""

    node: "Node"


@dataclass(frozen=True, slots=True)
class Either:
    """One of several; the first is the written one."""

    nodes: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Many:
    """One or more, with `separator` written between them; `spellings` are other separators that models write.

    `tight`: the separator must be there; otherwise it may be missing.
    """

    node: "Node"
    separator: str = ""
    spellings: tuple[str, ...] = ()
    tight: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call, from the first leaf that belongs to it alone to the last."""

    node: "Node"


@dataclass(frozen=True, slots=True)
class Bare:
    """Calls with no marker before them, believed only when they are the whole content of the turn."""

    node: "Node"


@dataclass(frozen=True, slots=True)
class Interleaved:
    """Free text with `node` embedded any number of times."""

    text: Text
    node: "Node"


@dataclass(frozen=True, slots=True)
class Said:
    """How content is written in a turn made of messages: between these two markers, or bare."""

    opener: Marker | None = None
    closer: Marker | None = None


@dataclass(frozen=True, slots=True)
class Messages:
    """A turn made of messages that control tokens delimit.

    Written: thinking, content, calls, with `between` between two of them; content before calls as `preamble`, where there is
    one, else as `answer`; `calls` for all calls where it holds a `Many`, else once for each. Read: any messages in any order and
    number, and `others` besides; `between` may be missing. White space beside content belongs to it. A call ends reasoning.
    """

    calls: "Node"
    thinking: "Node | None" = None
    answer: Said = Said()
    preamble: Said | None = None
    between: Marker | None = None
    others: tuple["Node", ...] = ()
    text: Text = Text("content")

    def said(self) -> tuple[Marker, ...]:
        """The markers around content, each once."""
        preamble = self.preamble or self.answer
        around = (self.answer.opener, self.answer.closer, preamble.opener, preamble.closer)
        return tuple(dict.fromkeys(marker for marker in around if marker is not None))


Name = ToolName | NumberedName
Arguments = JsonArguments | TaggedArguments | ElementArguments | QuotedArguments
Leaf = Marker | Text | Name | CallId | Filler | Arguments | JsonCall | NameKeyedCall | PythonCall
Node = Leaf | Gap | Seq | Optional | Soft | Unwritten | Either | Many | Call | Bare | Interleaved | Messages
