"""R040 to R044: the generation prompt, and what makes one prompt continue another."""

import re
from datetime import datetime
from typing import Any

import parsers
from gateway.errors import GatewayError
from gateway.rendering.environment import RenderFailure, Template
from gateway.rendering.probing import ANSWER, LAST, USER
from gateway.rendering.switches import THINKING_SWITCHES
from parsers import Format, ReasoningDelta

from .report import Check, judged
from .subject import Look

OTHER_DAY = datetime(1999, 1, 2, 3, 4, 5)


def prompt_checks(look: Look) -> list[Check]:
    """R040 to R044."""
    return [_generation(look), _switch(look), _bos(look), _prefix(look), _steady(look)]


def opening_facts(look: Look) -> dict[str, Any]:
    """The opening of a turn by the thinking switch: not mentioned, on, off; and the reasoning state it leaves."""
    facts: dict[str, Any] = {}
    for name, thinking in (("default", None), ("on", True), ("off", False)):
        opening = _opening(look, thinking=thinking)
        facts[name] = {"opening": opening, "reasoning": _state(look.format, opening)}
    return facts


def _opening(look: Look, *, thinking: bool | None = None) -> str:
    """What the prompt for a user's message opens of the turn; R010 tells of a template that refuses one."""
    switches = look.template.reads.intersection(THINKING_SWITCHES)
    options = {} if thinking is None else dict.fromkeys(switches, thinking)
    try:
        return look.renderer.render([USER], (), options).opening
    except GatewayError:
        return ""


def _state(fmt: Format | None, opening: str) -> str:
    """What the opening leaves of reasoning: none, open, or closed."""
    if not opening.strip():
        return "none"
    if fmt is None:
        return "unknown"
    parser = parsers.Parser(fmt, tools=(), opening=opening)
    return "open" if any(isinstance(event, ReasoningDelta) for event in parser.feed("x")) else "closed"


def _generation(look: Look) -> Check:
    """R040"""
    prompt, bare = look.prompt(), look.probe.text([USER]) or ""
    if prompt == bare and _ends_open(look, prompt.rstrip()):
        return Check("R040", "pass", "The prompt always ends where the assistant's turn begins.")
    if prompt == bare:
        return Check("R040", "warn", "There is no generation prompt: the model must open its turn by itself.", look.instead)
    opening = _opening(look)
    state = _state(look.format, opening)
    told = {
        "none": "",
        "open": " It opens the reasoning.",
        "closed": " It opens and closes the reasoning.",
        "unknown": f" It writes {opening!r} of the turn.",
    }[state]
    return Check("R040", "pass", f"The generation prompt opens the assistant's turn.{told}")


def _ends_open(look: Look, prompt: str) -> bool:
    """Whether the prompt goes on with an answer, but not with another question."""
    answered, asked = (look.probe.text([USER, message]) or "" for message in (ANSWER, LAST))
    return answered.removeprefix(prompt).lstrip().startswith("needleanswer") or (bool(asked) and not asked.startswith(prompt))


def _switch(look: Look) -> Check:
    """R041"""
    switches = sorted(look.template.reads.intersection(THINKING_SWITCHES))
    if not switches:
        return Check("R041", "pass", "There is no thinking switch.")
    on, off = (look.prompt(dict.fromkeys(switches, value)) for value in (True, False))
    effect = "changes the prompt" if on != off else "does not change a first prompt"
    return Check("R041", "pass", f"{' and '.join(switches)} {effect}.")


def _bos(look: Look) -> Check:
    """R042"""
    bos = look.renderer.bos
    if not bos:
        return Check("R042", "pass", "Not looked at: no bos token is known here.")
    try:
        prompt = look.renderer.render([USER]).text
    except GatewayError:
        return Check("R042", "pass", "Not looked at: a user's message is refused.")
    several = prompt.count(bos) > 1 and bos not in look.template.literals  # some open every turn with it
    problem = f"The prompt holds {prompt.count(bos)} bos tokens." if several else ""
    own = (
        "the template's own"
        if look.prompt().startswith(bos)
        else "put in"
        if prompt.startswith(bos)
        else "none, as the model wants it"
    )
    return judged(
        "R042", problem, f"Exactly one bos token at the start, or none: {own}.", "Remove all but one from the template."
    )


def _prefix(look: Look) -> Check:
    """R043"""
    steps = [[USER], [USER, ANSWER], [USER, ANSWER, LAST]]
    if look.can.calls and look.can.results:
        turn, result = look.history.turn(1), look.history.result(1, "needleresult")
        steps = [[USER], [USER, turn], [USER, turn, result], [USER, turn, result, ANSWER], [USER, turn, result, ANSWER, LAST]]
    texts = [look.probe.text(step) or "" for step in steps]
    broken = [len(steps[at]) for at in range(len(texts) - 1) if not texts[at + 1].startswith(re.sub(r"\s+\Z", "", texts[at]))]
    if not broken:
        return Check("R043", "pass", "A longer conversation continues the prompt of the shorter one (the engine's cache helps).")
    return Check(
        "R043", "pass", f"Appending message {broken[0] + 1} rewrites what stood before; the engine's prompt cache helps less."
    )


def _steady(look: Look) -> Check:
    """R044"""
    if look.prompt() != look.prompt():
        return Check("R044", "warn", "Two renders of one conversation differ.", "Remove what is random from the template.")
    if "strftime_now" not in look.template.text:
        return Check("R044", "pass", "The same conversation gives the same prompt at any time.")
    other = Template(look.template.text, variables=look.template.variables, clock=lambda: OTHER_DAY)
    other.null_tools = look.template.null_tools
    try:
        dated = other.render([USER], generation=True) != look.prompt()
    except RenderFailure:
        dated = True
    return Check("R044", "pass", "The prompt holds today's date." if dated else "The same conversation gives the same prompt.")
