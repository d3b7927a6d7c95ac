"""P051: the grammar that would be sent for forced calls accepts what the template writes for them."""

import re
from collections.abc import Iterator
from typing import get_args

import parsers
from gateway.chat.plan import Dialect
from gateway.errors import GatewayError
from gateway.rendering.opening import MARKER
from gateway.rendering.round_trip import own_text, read, turn_of
from gateway.rendering.samples import TOOL, Sample, rendered_turn
from parsers import ConstraintError, Format, Message, ToolCall

from .acceptance import accepts
from .prompt_probes import opening_facts
from .report import Check
from .subject import Look

_ID = re.compile(r',\s*"id":\s*"[^"]*"')


def accepted(look: Look, fmt: Format) -> Check:
    """P051"""
    asked: tuple[Dialect, ...] = (look.subject.dialect,) if look.subject.dialect else get_args(Dialect)
    samples = [sample for sample in look.said if sample.kind == "call"] + _two_calls(look)
    answers = []
    for sample in samples:
        for dialect in asked:
            try:
                answers.append((sample, _accepts(look, fmt, sample, dialect)))
            except ConstraintError as error:
                told = f"Calls cannot be held while decoding: {error}."
                return Check("P051", "warn", told, "Expect strict and required to be checked only after decoding.")
    if all(answer is None for _, answer in answers):
        return Check("P051", "pass", "Not looked at: neither xgrammar nor llguidance is installed.")
    refused = next((sample for sample, answer in answers if answer is False and not _alike(fmt, sample)), None)
    if refused is not None:
        turn, own = turn_of(fmt, refused), own_text(fmt, refused)
        what = f"Forced calls are spelled {own!r}, but the template writes {turn[:200]!r} in history."
        return Check("P051", "warn", what, f"Calls are read either way. {look.instead if look.ours else ''}".rstrip())
    apart = " but for white space and framing" if any(answer is False for _, answer in answers) else ""
    return Check("P051", "pass", f"The grammar that is sent for forced calls accepts what the template writes{apart}.")


def _two_calls(look: Look) -> list[Sample]:
    """Two calls with the plainest arguments: the order of keys and the escapes inside of them are the model's own choice."""
    if not look.can.parallel_calls:
        return []
    calls = tuple(ToolCall(TOOL.name, f'{{"word": "plain{number}"}}', f"abcdefgh{number}") for number in (1, 2))
    message = Message(tool_calls=calls)
    try:
        return [Sample("two calls", message, rendered_turn(look.renderer, message))]
    except GatewayError:
        return []


def _alike(fmt: Format, sample: Sample) -> bool:
    """Whether the turn holds the calls as the format writes them, but for white space and ids; the rest of it holds nothing else.

    A marker that the format writes last may be what the template ends every turn with.
    """
    turn = turn_of(fmt, sample)
    own = own_text(fmt, Sample(sample.kind, read(fmt, turn), turn))
    if own is None:
        return False
    own = "".join(own.split())
    for text in ("".join(turn.split()), "".join(_ID.sub("", turn).split())):
        if own in text or (own.startswith(text) and MARKER.fullmatch(own[len(text) :])):
            return True
    return False


def _accepts(look: Look, fmt: Format, sample: Sample, dialect: Dialect) -> bool | None:
    """Whether decoding could write the turn after one of the openings that the template's prompts have."""
    answer: bool | None = False
    for opening, text in _continued(look, turn_of(fmt, sample)):
        answer = accepts(dialect, parsers.constraint(fmt, [TOOL], "required", dialect=dialect, opening=opening), text)
        if answer is not False:
            return answer
    return answer


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
