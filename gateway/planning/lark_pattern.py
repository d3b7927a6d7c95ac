"""Lark grammars without recursion as one regular expression, which every engine can hold a text to.

A grammar that refers to itself, and what Lark's own lexer decides (priorities, `%ignore`), has no such expression and is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LONGEST = 32_768
"""Characters of an expression: rules that are used often are written out as often."""
DEEPEST = 60
COMMON = {
    "DIGIT": "[0-9]",
    "HEXDIGIT": "[0-9a-fA-F]",
    "INT": "[0-9]+",
    "SIGNED_INT": "[+-]?[0-9]+",
    "DECIMAL": r"(?:[0-9]+\.[0-9]*|\.[0-9]+)",
    "FLOAT": r"(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)",
    "NUMBER": r"(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+(?:[eE][+-]?[0-9]+)?)",
    "SIGNED_NUMBER": r"[+-]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+(?:[eE][+-]?[0-9]+)?)",
    "ESCAPED_STRING": r'"(?:[^"\\\n]|\\.)*"',
    "LCASE_LETTER": "[a-z]",
    "UCASE_LETTER": "[A-Z]",
    "LETTER": "[A-Za-z]",
    "WORD": "[A-Za-z]+",
    "CNAME": "[A-Za-z_][A-Za-z0-9_]*",
    "WS_INLINE": r"[ \t]+",
    "WS": r"[ \t\f\r\n]+",
    "CR": r"\r",
    "LF": r"\n",
    "NEWLINE": r"(?:\r?\n)+",
}
TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|//[^\n]*|\#[^\n]*)|(?P<line>\n)|(?P<text>"(?:\\.|[^"\\\n])*"i?)|(?P<regex>/(?:\\.|[^/\\\n])+/[a-z]*)"""
    r"""|(?P<range>\.\.)|(?P<number>\d+)|(?P<name>[?!]*_?[A-Za-z][A-Za-z0-9_]*)|(?P<arrow>->)|(?P<sign>[:|()\[\]?*+~%.,{}&-])"""
)
SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}/-]")


class GrammarRefused(ValueError):
    """This grammar cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A rule or terminal by name."""

    name: str


Node = str | Ref | tuple["Node", ...]
"""Expression text, a name in it, or several of these in a row."""


def pattern_of(grammar: str) -> str:
    """The expression for a whole text; GrammarRefused names what has none."""
    try:
        reader = _Reader(list(_tokens(grammar)))
        reader.read()
        return _Expander(reader.rules).expand("start", ())
    except RecursionError:
        raise GrammarRefused("it is nested too deeply") from None


def _tokens(grammar: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(grammar):
        match = TOKEN.match(grammar, at)
        if match is None:
            line = grammar.count("\n", 0, at) + 1
            raise GrammarRefused(f"line {line} cannot be read at {grammar[at : at + 20]!r}")
        at = match.end()
        kind = match.lastgroup or ""
        if kind != "space":
            yield kind, match[0]
    yield "line", "\n"


@dataclass(slots=True)
class _Reader:
    """Reads the statements of a grammar."""

    tokens: list[tuple[str, str]]
    at: int = 0
    depth: int = 0
    rules: dict[str, Node] = field(default_factory=dict)

    def read(self) -> None:
        while self.at < len(self.tokens):
            kind, text = self._next()
            if text == "%":
                self._directive()
            elif kind == "name":
                self._rule(text.lstrip("?!"))
            elif kind != "line":
                raise GrammarRefused(f"a rule must begin where {text!r} stands")

    def _next(self) -> tuple[str, str]:
        token = self.tokens[self.at] if self.at < len(self.tokens) else ("line", "\n")
        self.at += 1
        return token

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("line", "\n")

    def _expect(self, text: str) -> None:
        found = self._next()[1]
        if found != text:
            raise GrammarRefused(f"{text!r} is missing where {found!r} stands")

    def _directive(self) -> None:
        name = self._next()[1]
        if name != "import":
            raise GrammarRefused(f"%{name} is not supported")
        if self._next()[1] != "common":
            raise GrammarRefused("only %import common.NAME is supported")
        listed = [token for token in self._line() if token[1] not in (".", "(", ")", ",")]
        names = [text for _, text in listed]
        if "->" in names:
            self._import(names[0], names[-1])
            return
        for wanted in names:
            self._import(wanted, wanted)

    def _import(self, wanted: str, name: str) -> None:
        if wanted not in COMMON:
            raise GrammarRefused(f"common.{wanted} is not supported")
        self.rules[name] = COMMON[wanted]

    def _line(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        while (token := self._next())[0] != "line":
            found.append(token)
        return found

    def _rule(self, name: str) -> None:
        if self._peek()[1] == ".":
            raise GrammarRefused(f"the priority of {name} is not supported")
        if self._peek()[1] == "{":
            raise GrammarRefused(f"the template {name} is not supported")
        self._expect(":")
        if name in self.rules:
            raise GrammarRefused(f"{name} is defined twice")
        self.rules[name] = self._alternatives(inside=False)

    def _alternatives(self, *, inside: bool) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise GrammarRefused("it is nested too deeply")
        ways: list[Node] = [self._sequence(inside=inside)]
        while self._at_bar(inside=inside):
            ways += ["|", self._sequence(inside=inside)]
        self.depth -= 1
        return ("(?:", *ways, ")") if len(ways) > 1 else ways[0]

    def _at_bar(self, *, inside: bool) -> bool:
        """Step over a bar; also one that begins the next line."""
        ahead = self.at
        while ahead < len(self.tokens) and self.tokens[ahead][0] == "line":
            ahead += 1
        if ahead < len(self.tokens) and self.tokens[ahead][1] == "|":
            self.at = ahead + 1
            return True
        if inside:
            self.at = ahead
        return False

    def _sequence(self, *, inside: bool) -> Node:
        parts: list[Node] = []
        while True:
            kind, text = self._peek()
            if self.at >= len(self.tokens) and inside:
                raise GrammarRefused("a bracket is not closed")
            if kind == "line" and inside:
                self.at += 1
            elif kind == "arrow":
                self.at += 2
            elif kind == "line" or text in ("|", ")", "]"):
                return tuple(parts)
            else:
                parts.append(self._repeated(self._atom()))

    def _atom(self) -> Node:
        kind, text = self._next()
        if kind == "text":
            return self._range(text) if self._peek()[0] == "range" else literal(text)
        if kind == "regex":
            return _expression(text)
        if kind == "name":
            if self._peek()[1] == "{":
                raise GrammarRefused(f"the template {text} is not supported")
            return Ref(text)
        if text in ("(", "["):
            inner = self._alternatives(inside=True)
            self._expect(")" if text == "(" else "]")
            return ("(?:", inner, ")") if text == "(" else ("(?:", inner, ")?")
        raise GrammarRefused(f"{text!r} is not supported" if text.strip() else "a rule ends too early")

    def _range(self, first: str) -> Node:
        self.at += 1
        ends = [literal(first), literal(self._next()[1])]
        return f"[{ends[0]}-{ends[1]}]"

    def _repeated(self, part: Node) -> Node:
        text = self._peek()[1]
        if text in ("?", "*", "+"):
            self.at += 1
            return ("(?:", part, ")" + text)
        if text != "~":
            return part
        self.at += 1
        least = most = self._next()[1]
        if self._peek()[0] == "range":
            self.at += 1
            most = self._next()[1]
        if not (least.isdigit() and most.isdigit()):
            raise GrammarRefused("a number must follow '~'")
        return ("(?:", part, f"){{{least},{most}}}")


@dataclass(slots=True)
class _Expander:
    """Writes rules out, each name in its place."""

    rules: dict[str, Node]
    known: dict[str, str] = field(default_factory=dict)

    def expand(self, name: str, within: tuple[str, ...]) -> str:
        """The expression for a rule; `within`: the rules that are being written."""
        if name in within:
            raise GrammarRefused(f"the rule {name} refers to itself; recursion is not supported")
        if name not in self.rules:
            raise GrammarRefused(f"there is no rule {name}")
        if name not in self.known:
            self.known[name] = self._written(self.rules[name], (*within, name))
        return self.known[name]

    def _written(self, node: Node, within: tuple[str, ...]) -> str:
        if isinstance(node, str):
            return node
        if isinstance(node, Ref):
            return f"(?:{self.expand(node.name, within)})"
        text = "".join(self._written(part, within) for part in node)
        if len(text) > LONGEST:
            raise GrammarRefused(f"it is too large (at most {LONGEST} characters as one expression)")
        return text


def literal(token: str) -> str:
    """The expression for a Lark string, `"..."` or `"..."i`."""
    any_case = token.endswith("i")
    try:
        text = str(re.sub(r"\\(.)", _escape, token.rstrip("i")[1:-1], flags=re.DOTALL))
    except KeyError as error:
        raise GrammarRefused(f"the escape {error.args[0]} in {token} is not supported") from None
    return "".join(_letter(character, any_case=any_case) for character in text)


ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", '"': '"', "\\": "\\", "/": "/", "'": "'"}


def _escape(match: re.Match[str]) -> str:
    return ESCAPES[match[1]]


def _letter(character: str, *, any_case: bool) -> str:
    if any_case and character.lower() != character.upper():
        return f"[{character.lower()}{character.upper()}]"
    named = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f"}.get(character)
    return named or SPECIAL.sub(r"\\\g<0>", character)


def _expression(token: str) -> str:
    body, _, flags = token[1:].rpartition("/")
    if flags:
        raise GrammarRefused(f"the flags {flags!r} of {token} are not supported")
    return f"(?:{body.replace(chr(92) + '/', '/')})"
