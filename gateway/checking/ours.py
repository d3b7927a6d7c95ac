"""Which of our own templates lays a conversation out as the checked one does, so that it can stand in for it."""

from functools import lru_cache

import chat_templates
import parsers
from gateway.rendering.environment import Template
from gateway.rendering.loading import OURS
from gateway.rendering.opening import MARKER, is_thinking
from gateway.rendering.probing import ANSWER, LAST, USER, Probe
from parsers import Format

Layout = tuple[str, str]


def of_its_layout(template: Template, fmt: Format | None = None) -> list[str]:
    """Those that write the same between the turns of an exchange (`toolwire/NAME`), of all templates or of this format's.

    First those that also agree in white space.
    """
    layout = _layout(template)
    if layout is None:
        return []
    variables = tuple(template.variables.items())
    found = {
        name: other
        for name in chat_templates.names()
        if (fmt is None or _format(name) == fmt.name)
        and (other := _ours(name, variables))
        and _squeezed(other) == _squeezed(layout)
    }
    return [OURS + name for name in sorted(found, key=lambda name: found[name] != layout)]


def _format(name: str) -> str | None:
    """The format whose calls a template of ours writes: its name is the format's, or one of its aliases."""
    try:
        return parsers.get(name).name
    except parsers.UnknownFormat:
        return None


@lru_cache(maxsize=256)
def _ours(name: str, variables: tuple[tuple[str, str], ...]) -> Layout | None:
    return _layout(Template(chat_templates.load(name), variables=dict(variables)))


def _layout(template: Template) -> Layout | None:
    """What stands before an answer and behind it, without thinking; None where an exchange is refused."""
    text = Probe(template).text([USER, ANSWER, LAST])
    if text is None or "needleanswer" not in text:
        return None
    before, _, after = text.partition("needleanswer")
    return _thoughtless(before.rpartition("needleuser")[2]), _thoughtless(after.partition("needlelast")[0])


def _thoughtless(text: str) -> str:
    return MARKER.sub(lambda match: "" if is_thinking(match[0]) else match[0], text)


def _squeezed(layout: Layout) -> Layout:
    """Without white space."""
    return "".join(layout[0].split()), "".join(layout[1].split())
