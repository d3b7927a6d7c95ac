"""P050 to P052: what the template writes for a known turn comes back from the parser, at every split, and may be decoded."""

from collections.abc import Iterable, Iterator
from typing import get_args

import parsers
from gateway.chat.plan import Dialect
from gateway.rendering.round_trip import calls_of, read, texts_of, turn_of
from gateway.rendering.samples import TOOL, Lost, Sample
from parsers import ConstraintError, Format, Message, normal
from parsers.dialect import spelled_formats

from .acceptance import accepts
from .prompt_probes import opening_facts
from .report import Check
from .subject import Look

QUICK_SPLITS = 16
"""Splits of each turn that are tried at start-up."""


def return_checks(look: Look, *, thorough: bool) -> list[Check]:
    """P050 to P052."""
    if look.format is None:
        return [_no_format(look), *(Check(i, "pass", "Not looked at: no format reads its calls.") for i in ("P051", "P052"))]
    if not look.said or not look.said[0].message.tool_calls:
        lost = "; ".join(sorted({entry.reason for entry in look.samples if isinstance(entry, Lost)}))
        unproved = f"{look.format.name} cannot be proved: {lost}."
        return [
            Check("P050", "warn", unproved, f"Make sure that the model writes {look.format.name}, or take one of our templates.")
        ]
    return [_comes_back(look, look.format), _accepted(look, look.format), _at_every_split(look, look.format, thorough=thorough)]


def _no_format(look: Look) -> Check:
    lost = next((entry.reason for entry in look.samples if isinstance(entry, Lost) and entry.kind == "call"), "")
    said = [sample for sample in look.said if sample.message.tool_calls]
    seen = f"no format reads back the call that it writes: {said[0].turn[:200]!r}" if said else lost or "it shows no calls"
    return Check("P050", "fail", f"No tool-call format is found: {seen}.", remedy_by_markers(look))


def remedy_by_markers(look: Look) -> str:
    """What to do where calls are not read: by the markers that the template's own words spell."""
    configured = look.subject.configured
    if configured is not None and configured.template:
        return look.instead
    spelled = spelled_formats(look.template.literals)
    if not spelled:
        return "Set chat_template to one of ours (toolwire/NAME) and parser to its format, if the model was trained on one."
    likely = spelled[:3]
    ours = next((parsers.get(name).template for name in likely if parsers.get(name).template), None)
    instead = f", or chat_template: toolwire/{ours.removesuffix('.jinja')}" if ours else ""
    return f"Its words spell the markers of {' or '.join(likely)}: set parser to it{instead}."


def _comes_back(look: Look, fmt: Format) -> Check:
    """P050"""
    wrong, blurred = [], []
    for sample in look.said:
        back = _read_back(fmt, sample, look.can.header)
        read_in_part = sample.kind == "call" and texts_of(back) != ("", "")
        if calls_of(back) != calls_of(sample.message) or read_in_part:
            wrong.append(sample)
        elif texts_of(back) != texts_of(sample.message):
            blurred.append(sample)
    if wrong:
        what = f"{fmt.name} does not give back {_kinds(wrong)} from what the template writes: {wrong[0].turn[:200]!r}."
        if look.found and look.found != fmt.name:
            return Check("P050", "fail", f"{what} {look.found} does.", f"Set parser: {look.found} (or auto).")
        return Check("P050", "fail", what, look.instead)
    if blurred:
        what = f"{fmt.name} gives the calls back, but not all text or reasoning of {_kinds(blurred)}: {blurred[0].turn[:200]!r}."
        return Check(
            "P050", "warn", what, "Earlier turns are shown to the model otherwise than it writes them; take one of our templates."
        )
    spelled = spelled_formats(look.template.literals)
    if spelled and fmt.name not in (*spelled, *spelled_formats(look.said[0].turn)):  # no marker tells such a call
        what = f"{fmt.name} gives back the calls of earlier turns, but the template's words spell the markers of {spelled[0]}."
        return Check("P050", "warn", what, f"Set parser: {spelled[0]} if the model writes calls as it is told to.")
    left = [entry for entry in look.samples if isinstance(entry, Lost)]
    note = f" Not said by the template: {_kinds(left)}." if left else ""
    return Check("P050", "pass", f"{fmt.name} gives back {_kinds(look.said)}.{note}")


def _read_back(fmt: Format, sample: Sample, header: str) -> Message:
    """The sample as it is read. What a template tells as two messages, text and then a call, is read as two turns."""
    back = read(fmt, turn_of(fmt, sample))
    turns = sample.turn.split(header) if header else []
    if len(turns) < 2 or calls_of(back) == calls_of(sample.message):
        return back
    parts = [read(fmt, turn_of(fmt, Sample(sample.kind, sample.message, turn))) for turn in turns]
    content = "".join(part.content or "" for part in parts)
    return Message(content, sample.message.reasoning, tuple(call for part in parts for call in part.tool_calls))


def _kinds(samples: Iterable[Sample | Lost]) -> str:
    return ", ".join(sample.kind for sample in samples)


def _accepted(look: Look, fmt: Format) -> Check:
    """P051"""
    asked: tuple[Dialect, ...] = (look.subject.dialect,) if look.subject.dialect else get_args(Dialect)
    refused: list[str] = []
    looked = False
    for dialect in asked:
        for sample in look.said:
            if sample.kind not in ("call", "two calls"):
                continue
            try:
                answer = _accepts(look, fmt, sample, dialect)
            except ConstraintError as error:
                return Check(
                    "P051",
                    "warn",
                    f"Calls cannot be held while decoding: {error}.",
                    "Expect strict and required to be checked only after decoding.",
                )
            looked = looked or answer is not None
            if answer is False:
                refused.append(f"{sample.kind} ({dialect})")
    if not looked:
        return Check("P051", "pass", "Not looked at: neither xgrammar nor llguidance is installed.")
    if refused:
        what = f"The grammar that holds calls spells them otherwise than the template does in history: {', '.join(refused)}."
        return Check("P051", "warn", what, f"Calls are read all the same. {look.instead}")
    return Check("P051", "pass", "The grammar that is sent for forced calls accepts what the template writes.")


def _accepts(look: Look, fmt: Format, sample: Sample, dialect: Dialect) -> bool | None:
    """Whether decoding could write the turn after one of the openings that the template's prompts have."""
    answer: bool | None = False
    for opening, text in _continued(look, _without_stop(fmt, turn_of(fmt, sample))):
        answer = accepts(dialect, parsers.constraint(fmt, [TOOL], "required", dialect=dialect, opening=opening), text)
        if answer is not False:
            return answer
    return answer


def _without_stop(fmt: Format, turn: str) -> str:
    """The turn up to the token that ends it, which no grammar spells: some templates write it behind calls only."""
    return next((turn.removesuffix(stop) for stop in fmt.stop if turn.endswith(stop)), turn)


def _continued(look: Look, turn: str) -> Iterator[tuple[str, str]]:
    """Openings, and what of the turn is written after each. A turn of history may lack the opener of an empty thought."""
    openings = sorted({str(fact["opening"]) for fact in opening_facts(look).values()}, key=len, reverse=True)
    for opening in openings:
        if turn.startswith(opening):
            yield opening, turn.removeprefix(opening)
    for opening in openings:
        if opening and not turn.startswith(opening):
            yield opening, turn
    if turn.strip() != turn:
        yield "", turn.strip()


def _at_every_split(look: Look, fmt: Format, *, thorough: bool) -> Check:
    """P052"""
    tried = 0
    for sample in look.said:
        turn = turn_of(fmt, sample)
        whole = _events(fmt, [turn])
        for pieces in _cuttings(turn, thorough=thorough):
            tried += 1
            if _events(fmt, pieces) != whole:
                cut = len(pieces[0])
                what = f"{sample.kind}: cut after {cut} characters, {fmt.name} reads something else."
                return Check("P052", "fail", what, "This is a fault of the parser; please report it with the template.")
    how = "every split" if thorough else "a sample of splits (toolwire check tries every one)"
    return Check("P052", "pass", f"The same events at {how} of {len(look.said)} turns ({tried} cuttings).")


def _cuttings(turn: str, *, thorough: bool) -> Iterator[list[str]]:
    yield list(turn)
    step = 1 if thorough else max(1, len(turn) // QUICK_SPLITS)
    for at in range(1, len(turn), step):
        yield [turn[:at], turn[at:]]


def _events(fmt: Format, pieces: list[str]) -> object:
    parser = parsers.Parser(fmt, tools=[TOOL])
    return normal([event for piece in pieces for event in parser.feed(piece)] + parser.finish("stop"))
