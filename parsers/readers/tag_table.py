"""The texts and patterns of tagged arguments, made once for each place in a format where they stand."""

import re
from dataclasses import replace
from functools import lru_cache

from ..automaton import Position, opening_texts
from ..description import TaggedArguments
from .behind import NAME_LIMIT, texts_behind
from .boundary import in_order

_TYPE = re.escape("{type}")
_QUOTE = "[\"'“”]?"
_PAIR = re.compile(r"(.*\{key\})(</[^<>]*>)\s*(<[^<>]*>)\s*", re.DOTALL)


class TagTable:
    """The texts and patterns of one TaggedArguments leaf at its position."""

    def __init__(self, position: Position) -> None:
        leaf = position.leaf
        assert isinstance(leaf, TaggedArguments)
        self.leaf = leaf
        self.close = leaf.close.strip()
        self.opener = opening_texts(leaf)[0]
        self.header = _header_pattern(leaf)
        self.headless = _header_pattern(replace(leaf, header=leaf.header.strip().removeprefix(self.opener)))
        """The header without its first tag."""
        self.slipped = _slipped_pattern(leaf)
        """The header with a tag missing or doubled, or with its last sign missing."""
        self.header_tags = _tags_behind_key(leaf)
        self.header_end = _last_literal(leaf.header)
        self.markers = texts_behind(position)
        self.between = in_order([self.opener, *self.markers])
        bare = [self.opener, *(m for m in self.markers if m != self.opener)]
        self.closers = frozenset((self.close, *_mangled(self.close), *_fused(self.close, self.markers)))
        """What closes a value: the closer, and the ways models garble it."""
        self.keyed_close = leaf.keyed_close
        edges = ("", "\n") if leaf.trim else ("",)
        enders = [edge + closer for edge in edges for closer in self.closers] + [edges[-1] + m for m in bare]
        self.enders = in_order(enders)
        self.behind = {m: texts_behind(position.markers[m]) for m in self.markers if m in position.markers}


@lru_cache(maxsize=1024)
def table_of(position: Position) -> TagTable:
    """The table of a position, made once."""
    return TagTable(position)


def with_key(keyed_close: str, found: re.Match[str], *, at_end: bool) -> str | None:
    """The ender that was found, with the key behind it where it is a closer that repeats it; None: it may yet become one."""
    ender: str | None = found.group(1)
    marker = (ender or "").removeprefix("\n")
    if ender is None or not keyed_close.startswith(marker):
        return ender
    begin = found.end() - len(marker)
    here = found.string[begin : begin + len(keyed_close)]
    if here == keyed_close:
        return ender + here[len(marker) :]
    return None if keyed_close.startswith(here) and not at_end else ender


@lru_cache(maxsize=256)
def _header_pattern(leaf: TaggedArguments) -> re.Pattern[str]:
    """The lenient reading of a header: any whitespace, quotes that may be missing, the type mark that may be missing."""
    body = leaf.header.strip()
    key_class = r"[^\"'“”<>\n]" if '"{key}"' in body else r"[^<>\n]"
    mark = re.search(r'(\s*)(\w+)="\{(string|type)\}"', body)
    if mark:
        said = rf"(?:\s+{mark.group(2)}\s*=\s*{_QUOTE}(?P<{mark.group(3)}>\w+){_QUOTE})?\s*"
        before, after = body[: mark.start()], body[mark.end() :]
    else:
        said = rf"(?:{re.escape(leaf.aside).replace(_TYPE, '(?P<type>[a-z]+)')}\s*)?" if leaf.aside else ""
        before, after = (body[: body.rindex("<")], body[body.rindex("<") :]) if leaf.aside else (body, "")
    return re.compile(_lenient(before, key_class, leaf.spaces) + said + _lenient(after, key_class, leaf.spaces))


def mark_of(header: re.Match[str]) -> str | None:
    """What a header says of its value: `true` for text, `false` for JSON."""
    found = header.groupdict()
    kind = found.get("type")
    return found.get("string") if kind is None else "true" if kind == "string" else "false"


def _last_literal(header: str) -> str:
    """What a header surely ends with: its last tag, or the last character of its only one."""
    last_tag = header.rstrip()[header.rindex("<") :]
    return last_tag if "{" not in last_tag else last_tag[-1]


def _lenient(text: str, key_class: str, spaces: tuple[str, ...]) -> str:
    space = "|".join([r"\s+", *map(re.escape, spaces)])
    parts: list[str] = []
    for piece in re.split(r'(\{key\}|"|\s+)', text):
        if piece == "{key}":
            parts.append(rf"(?P<key>{key_class}{{1,{NAME_LIMIT}}}?)")
        elif piece == '"':
            parts.append(_QUOTE)
        elif piece.isspace():
            parts.append(r"\s*" if "\n" in piece else f"(?:{space})")
        else:
            parts.append((r"\s*" if piece[:1] == ">" else "") + re.escape(piece).replace("><", r">\s*<"))
    return "".join(parts)


def _mangled(closer: str) -> tuple[str, ...]:
    """The ways in which models garble a closing tag: `</parameter/>`, `</parameter1>`, `</parameter >`, `</parameter`."""
    if closer[:2] != "</" or closer[-1] != ">":
        return ()
    return (closer[:-1], closer + ">", *(f"{closer[:-1]}{sign}>" for sign in " /0123456789"))


def _fused(closer: str, behind: tuple[str, ...]) -> tuple[str, ...]:
    """A closing tag grown together with one that may follow it: `</parameter_function>`, `</parameterfunction>`."""
    if closer[:2] != "</" or closer[-1] != ">":
        return ()
    outer = [marker[2:] for marker in behind if re.fullmatch(r"</\w+>", marker)]
    return tuple(f"{closer[:-1]}{joint}{tag}" for tag in outer for joint in ("", "_"))


def _tags_behind_key(leaf: TaggedArguments) -> tuple[str, ...]:
    """The tags between an argument's key and its value, where there are two or more."""
    pair = _PAIR.fullmatch(leaf.header)
    if pair is None:
        return ()
    return (pair.group(2), *((leaf.aside.partition("{")[0],) if leaf.aside else ()), pair.group(3))


@lru_cache(maxsize=256)
def _slipped_pattern(leaf: TaggedArguments) -> re.Pattern[str] | None:
    """A header whose last tag is missing (no group `last`), or whose key has no closing tag or several.

    Where a header is one tag and ends a line: one whose last sign is missing.
    """
    pair = _PAIR.fullmatch(leaf.header)
    if pair is None:
        open_tag = leaf.header.strip().removesuffix(">")
        unclosed = leaf.trim and open_tag.endswith("{key}")
        return re.compile(_lenient(open_tag, r"[^<>\n]", ()) + r"(?P<last>)(?P<alone>)(?=\n)") if unclosed else None
    before, inner, last = pair.groups()
    aside = rf"(?:{re.escape(leaf.aside).replace(_TYPE, '[a-z]+')}\s*)?" if leaf.aside else ""
    ends = rf"(?:(?:{re.escape(inner)}\s*)+{aside}(?P<last>{re.escape(last)})?|\s*{re.escape(last)}(?P<alone>))"
    return re.compile(_lenient(before, r"[^<>\n]", leaf.spaces) + ends)
