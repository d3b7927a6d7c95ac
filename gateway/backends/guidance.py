"""Constraints for llama.cpp, all through its llguidance: Lark text that this vocabulary can follow, checked before it is used.

The check is not a courtesy: llama.cpp logs a grammar it cannot read and then generates without any.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from gateway.chat.plan import Constraint
from gateway.errors import GatewayError, ResponseSchemaInvalid, SettingsError, ToolSchemaInvalid
from parsers.grammars.lark_schema import readable

HEADER = "%llguidance {}\n"
COMPACT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""The spacing of `json.dumps`. Without it the model may fill its answer with blanks."""
TOKENS = re.compile(
    r"""^[A-Z_][A-Z0-9_]*[ \t]*:.*$   # a terminal: it cannot hold token ids
    | %json\s+                       # a schema follows
    | /(?:\\.|[^/\\\n])+/[a-z]*      # a regular expression
    | //.*$                          # a comment
    | "(?:\\.|[^"\\\n])*"            # a text""",
    re.VERBOSE | re.MULTILINE,
)
"""What may hold quotes in Lark text."""
START = re.compile("^start:", re.MULTILINE)
UNMASKABLE = 31
"""Where a vocabulary has so many tokens more than a multiple of 32, llguidance fails in JSON strings, and llama.cpp goes on
without the grammar."""
UNTIL = re.compile(r'^(\w+)\[lazy\]: (\w+) "((?:\\.|[^"\\\n])*)"$', re.MULTILINE)
"""A rule for text up to a literal, which is one lexeme."""


def can_hold(tokens: int) -> bool:
    """Whether constraints hold over a vocabulary of so many tokens."""
    return tokens % 32 != UNMASKABLE


def grammar_for(constraint: Constraint, control: Mapping[str, int], *, ends: Sequence[str] = ()) -> str:
    """The text for llama.cpp's `grammar`. `control`: the vocabulary's control tokens, text -> id; `ends`: those that end a turn.

    llguidance lets a turn end with one token only, which llama.cpp names it: the first that looks like an end to it. Of gpt-oss'
    that is `<|end|>`, behind which llama.cpp itself goes on, and without any grammar. So the grammar says which tokens end it.
    """
    text = _lark(constraint)
    if problem := _problem(text):
        raise _refusal(constraint, problem)
    text = with_token_ids(text, control)
    if ids := [f"<[{control[end]}]>" for end in ends if end in control]:
        text = f"start: turn ({' | '.join(ids)})\n{START.sub('turn:', text, count=1)}"
    return HEADER + text


def _lark(constraint: Constraint) -> str:
    match constraint.kind:
        case "lark":
            return str(constraint.value).removeprefix(HEADER)
        case "json_schema":
            return f"start: %json {_schema(constraint.value)}\n"
        case "json_object":
            return f"start: %json {_schema({'type': 'object'})}\n"
        case "structural_tag":
            raise SettingsError("llama.cpp takes no structural tags; this backend's dialect is lark")


def _schema(schema: Mapping[str, Any]) -> str:
    return json.dumps({**readable(schema), "x-guidance": {**COMPACT, **schema.get("x-guidance", {})}}, ensure_ascii=False)


@lru_cache(maxsize=256)
def _problem(text: str) -> str:
    """Why llguidance cannot read a grammar; empty when it can."""
    try:
        from llguidance import LLMatcher, grammar_from
    except ImportError:
        raise SettingsError(
            "constraints of an embedded model are checked with llguidance; install it: pip install llguidance"
        ) from None
    return str(LLMatcher.validate_grammar(grammar_from("lark", text))).strip()


def _refusal(constraint: Constraint, problem: str) -> GatewayError:
    first = problem.splitlines()[0]
    if constraint.kind == "lark":
        return ToolSchemaInvalid(f"No decoding constraint can be built from these tools: {first}", param="tools")
    return ResponseSchemaInvalid(f"No decoding constraint can be built from this schema: {first}", param="response_format")


def with_token_ids(lark: str, control: Mapping[str, int]) -> str:
    """Lark text whose literals name control tokens by id.

    llguidance has no text for a control token. A literal that spells one is met by the tokenizer's choice of the token itself,
    which the grammar then rejects, and llama.cpp goes on without it. `<[id]>` is Lark for the token.
    """
    ids = {json.dumps(text, ensure_ascii=False)[1:-1]: number for text, number in control.items()}
    if not ids:
        return lark
    spelled = re.compile("|".join(map(re.escape, sorted(ids, key=len, reverse=True))))
    lark = UNTIL.sub(lambda rule: _until_token(rule, spelled, ids), lark)
    parts: list[str] = []
    place = 0
    while found := TOKENS.search(lark, place):
        end = found.end()
        if found.group().startswith("%json"):
            end = json.JSONDecoder().raw_decode(lark, end)[1]
        token = lark[found.start() : end]
        parts += [lark[place : found.start()], _split(token, spelled, ids) if token.startswith('"') else token]
        place = end
    return "".join((*parts, lark[place:]))


def _until_token(rule: re.Match[str], spelled: re.Pattern[str], ids: Mapping[str, int]) -> str:
    """A rule for text up to a control token. No lexeme holds one, so the text need not be lazy: the token ends it."""
    name, text, literal = rule.groups()
    token = spelled.search(literal)
    if token is None:
        return rule.group()
    before, after = literal[: token.start()], literal[token.end() :]
    lines = [f'{name.upper()}: {text} "{before}"'] if before else []
    ended = f"{name}: {name.upper() if before else text} <[{ids[token.group()]}]>"
    return "\n".join((*lines, f'{ended} "{after}"' if after else ended))


def _split(literal: str, spelled: re.Pattern[str], ids: Mapping[str, int]) -> str:
    """One literal as a group of texts and token ids; as it was when it spells no control token."""
    inner = literal[1:-1]
    parts: list[str] = []
    place = 0
    for token in spelled.finditer(inner):
        parts += [f'"{inner[place : token.start()]}"', f"<[{ids[token.group()]}]>"]
        place = token.end()
    if not parts:
        return literal
    parts.append(f'"{inner[place:]}"')
    return f"({' '.join(part for part in parts if part != chr(34) * 2)})"
