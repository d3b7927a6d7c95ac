"""Whether a chat template can serve tool calls: probes, and the round trip through the parser and the decode-time grammar."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import parsers
from gateway.rendering.round_trip import fitting
from gateway.rendering.switches import THINKING_SWITCHES
from parsers import Format

from .history_probes import history_checks
from .probes import role_checks, tool_checks
from .prompt_probes import opening_facts, prompt_checks
from .report import Check, Report, Status
from .returns import return_checks
from .safety import safety_checks
from .static import compiles, options_of, static_checks
from .subject import Look, Sends, Subject

__all__ = ["Check", "Report", "Sends", "Status", "Subject", "broken", "check", "format_of"]


def broken(name: str, text: str) -> Report | None:
    """The report on a template that cannot be compiled; None when it can."""
    checks = compiles(text)
    return Report(name, None, {}, tuple(checks)) if checks else None


def check(subject: Subject, *, thorough: bool = True) -> Report:
    """Everything that can be asked of a template. `thorough`: turns are cut at every place, not at a sample of them."""
    look = _detected(Look.at(subject))
    checks = tuple(_checks(look, thorough=thorough))
    return Report(subject.name, look.format.name if look.format else None, _capabilities(look), checks)


def format_of(subject: Subject) -> Format | None:
    """The configured format, else the one that reads the template's calls."""
    return _detected(Look.at(subject)).format


def _detected(look: Look) -> Look:
    found = next(iter(fitting(look.said, look.ending)), None)
    fmt = look.subject.configured or (parsers.get(found) if found else None)
    return replace(look, format=fmt, found=found)


def _checks(look: Look, *, thorough: bool) -> Iterator[Check]:
    yield from static_checks(look.template, look.renderer.encoder, renders=look.can.tools and look.can.calls)
    yield from role_checks(look)
    yield from tool_checks(look)
    yield from history_checks(look)
    yield from prompt_checks(look)
    yield from return_checks(look, thorough=thorough)
    yield from safety_checks(look)


def _capabilities(look: Look) -> dict[str, Any]:
    """What the probes found, for machines."""
    found = {key: value for key, value in asdict(look.can).items() if key != "tool_form"}
    form = asdict(look.can.tool_form)
    return {
        "tools": form.pop("shown"),
        **{f"tools_{key}" if not key.startswith("needs") else key: value for key, value in form.items()},
        **found,
        "options": options_of(look.template),
        "thinking_switch": sorted(look.template.reads.intersection(THINKING_SWITCHES)),
        "generation": opening_facts(look),
    }
