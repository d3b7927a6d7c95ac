"""P050 to P052: what the template writes for a known turn comes back from the parser, at every split, and may be decoded."""

from collections.abc import Iterable, Iterator

import parsers
from gateway.rendering.round_trip import calls_of, nearest, read, texts_of, turn_of
from gateway.rendering.samples import TOOL, Lost, Sample
from parsers import Format, Message, normal
from parsers.dialect import spelled_formats

from .grammar_probes import accepted
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
            Check("P050", "warn", unproved, f"Make sure that the model writes {look.format.name}. {look.instead}"),
        ]
    return [_comes_back(look, look.format), accepted(look, look.format), _at_every_split(look, look.format, thorough=thorough)]


def _no_format(look: Look) -> Check:
    lost = next((entry.reason for entry in look.samples if isinstance(entry, Lost) and entry.kind == "call"), "")
    said = [sample for sample in look.said if sample.message.tool_calls]
    if not said:
        return Check("P050", "fail", f"No tool-call format is found: {lost or 'it shows no calls'}.", _remedy(look))
    seen = f"No tool-call format is found: no format reads back the call that it writes: {said[0].turn[:200]!r}."
    near = nearest(said[0])
    if near is None:
        return Check("P050", "fail", seen, _remedy(look))
    name, own = near
    remedy = f"Set parser: {name} if the model writes the latter, and correct the template in a copy (chat_template: FILE)."
    if look.ours:
        remedy = f"Serve it with chat_template: {look.ours[0]}."
    return Check("P050", "fail", f"{seen} {name} has {own!r}.", remedy)


def _remedy(look: Look) -> str:
    """What to do where calls are not read: by the markers that the template's own words spell, else by its layout."""
    if look.subject.configured is not None or (look.believed is None and look.ours):
        return look.instead
    if look.believed is None:
        return f"Set parser to the format that the model writes (toolwire formats lists them). {look.instead}"
    name = look.believed.name
    instead = f" and chat_template: {look.ours[0]}" if look.ours else ""
    return f"Its words spell the markers of {name}: set parser: {name}{instead}."


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
        return Check("P050", "warn", what, f"Earlier turns are shown to the model otherwise than it writes them. {look.instead}")
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
