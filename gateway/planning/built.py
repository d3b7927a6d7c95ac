"""Constraints that were built lately: agents send the same tools with every request."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import parsers
from gateway.chat.json_text import canonical
from gateway.chat.plan import Constraint, Dialect
from parsers import ConstraintError, Format, Tool

from . import grammar_check
from .names import unwritable

MOST_KNOWN = 64
"""Constraints that are kept; one for a hundred tools takes some hundred kilobytes."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a constraint is for: a format's calls, as they were asked for, behind what the prompt has written of the turn."""

    format: Format
    choice: Literal["auto", "required"]
    parallel: bool
    dialect: Dialect
    opening: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a constraint cannot be had, and as far as it is known for which tool and at which place of its schema."""

    reason: str
    tool: str | None = None
    path: tuple[str | int, ...] = ()


Outcome = tuple[Constraint | None, Problem | None]
_known: OrderedDict[bytes, Outcome] = OrderedDict()
_guarding = threading.Lock()


def built(wanted: Wanted, tools: Sequence[Tool]) -> Outcome:
    """The constraint, or what is wrong with it; as it was found before, where it was."""
    key = _key(wanted, tools)
    with _guarding:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    found = _build(wanted, tools)
    with _guarding:
        _known[key] = found
        while len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
    return found


def _key(wanted: Wanted, tools: Sequence[Tool]) -> bytes:
    asked = (wanted.format.name, wanted.choice, str(wanted.parallel), wanted.dialect, wanted.opening)
    text = canonical({"asked": asked, "tools": [[tool.name, tool.parameters] for tool in tools]})
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _build(wanted: Wanted, tools: Sequence[Tool]) -> Outcome:
    fmt = wanted.format
    for tool in tools:
        if (path := unwritable(tool, fmt)) is not None:
            return None, Problem(f"{fmt.name} models cannot write this property's name", tool.name, path)
    try:
        value = parsers.constraint(
            fmt, tools, wanted.choice, parallel=wanted.parallel, dialect=wanted.dialect, opening=wanted.opening
        )
    except ConstraintError as error:
        return None, Problem(str(error), error.tool, error.path)
    constraint = None if value is None else Constraint(wanted.dialect, value)
    reason = constraint and grammar_check.problem_of(constraint)
    return (None, Problem(reason)) if reason else (constraint, None)
