"""Builds a constraint's grammar here first, where the reason for a refusal can be told; engines only say that they refuse."""

import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from gateway.chat.json_text import canonical
from gateway.chat.plan import Constraint, Dialect
from parsers import ConstraintError
from parsers.grammars import json_tag
from parsers.grammars.lark import lark
from parsers.grammars.shapes import Json

from . import xgrammar_check

SECONDS = 20.0
"""How long building one grammar may take."""
PLACE = re.compile(r"^at \d+\(\d+\): (?:failed to compile JSON schema: )?")
log = logging.getLogger(__name__)


def problem_of(constraint: Constraint) -> str | None:
    """Why the engine's grammar compiler would refuse this constraint; None when it would not, or is not installed here."""
    if constraint.kind == "lark":
        return _lark_problem(constraint.value)
    return _tag_problem(canonical(constraint.value)) if constraint.kind == "structural_tag" else None


def path_of_problem(schema: Mapping[str, Any], dialect: Dialect) -> tuple[str | int, ...]:
    """The deepest place in a schema that is refused on its own; () when only the whole is."""
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    path: tuple[str | int, ...] = ()
    node: Any = schema
    while True:
        culprit = next((step for step in _children(node) if _schema_problem({**shared, **step[1]}, dialect)), None)
        if culprit is None:
            return path
        path, node = (*path, *culprit[0]), culprit[1]


def _schema_problem(schema: Mapping[str, Any], dialect: Dialect) -> str | None:
    if dialect == "lark":
        return _lark_problem(lark(Json(schema)))
    try:
        return _tag_problem(canonical(json_tag(schema)))
    except ConstraintError as error:
        return str(error)


def _children(node: Mapping[str, Any]) -> list[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """The subschemas of a schema with their paths."""
    named = [((group, key), child) for group in ("properties", "$defs", "definitions") for key, child in _items(node, group)]
    single = [((key,), node[key]) for key in ("items", "additionalProperties") if key in node]
    several = [((group, i), child) for group in ("anyOf", "oneOf", "allOf", "prefixItems") for i, child in _listed(node, group)]
    found: Sequence[tuple[tuple[str | int, ...], Any]] = [*named, *single, *several]
    return [(path, child) for path, child in found if isinstance(child, Mapping)]


def _items(node: Mapping[str, Any], group: str) -> list[tuple[str, Any]]:
    children = node.get(group)
    return list(children.items()) if isinstance(children, Mapping) else []


def _listed(node: Mapping[str, Any], group: str) -> list[tuple[int, Any]]:
    children = node.get(group)
    return list(enumerate(children)) if isinstance(children, list | tuple) else []


@lru_cache(maxsize=1024)
def _tag_problem(text: str) -> str | None:
    return in_time(lambda: xgrammar_check.problem_of_tag_text(text)) if xgrammar_check.available() else None


@lru_cache(maxsize=256)
def _lark_problem(text: str) -> str | None:
    try:
        from llguidance import LLMatcher, grammar_from
    except ImportError:
        return None
    return in_time(lambda: _told(LLMatcher.validate_grammar(grammar_from("lark", text))))


def _told(problem: str) -> str | None:
    """A complaint of llguidance without the place in its grammar, which the author of a schema never sees."""
    first = problem.strip().partition("\n")[0]
    return PLACE.sub("", first) or None


def in_time(check: Callable[[], str | None]) -> str | None:
    """The check's answer; a check that takes too long is itself a refusal. Its thread is left to end by itself."""
    answer: list[str | None] = []
    worker = threading.Thread(target=lambda: answer.append(check()), name="grammar-check", daemon=True)
    worker.start()
    worker.join(SECONDS)
    if answer:
        return answer[0]
    log.warning("a grammar was not built within %s s", SECONDS)
    return f"its grammar takes longer than {SECONDS:g} s to build; make the schema simpler"
